// @ts-check
// Memories: listed, and one beside its sources, with what happened to it.
import { html, useEffect, useRef, useState } from "/assets/preact.js";
import { send } from "/assets/api.js";
import { Answer, Copy, Field, Heading, Input, Markdown, MemoryRow, Older, Projects, Text, Trouble, When, plural, teller, to, useAsk } from "/assets/parts.js";
import { speaker } from "/assets/search.js";

const TYPES = ["bugfix", "feature", "refactor", "change", "discovery", "decision"];

/** @param {{params: Record<string, string>, said: (text: string, canUndo?: boolean) => void}} props */
export function Memories({ params, said }) {
  const change = (/** @type {any} */ event) => { location.hash = to("memories", undefined, { ...params, cursor: "", [event.target.name]: event.target.value }); };
  const limit = Number(params.limit ?? 50);
  const asked = useAsk("/memories", { ...params, limit }, ["memory", "decision"]);
  return html`<${Heading} title="Memories" />
    <div class="fields">
      <${Field} label="Project"><${Input} name="project" list="projects" value=${params.project} onChange=${change} /><//>
      <${Field} label="Type"><select name="type" onChange=${change}><option value="">any</option>${[...TYPES, "summary"].map((type) => html`<option value=${type} selected=${type === params.type}>${type}</option>`)}</select><//>
      <${Field} label="State"><select name="state" onChange=${change}>${[["in-force", "all in force"], ["edited", "corrected by you"], ["told", "told by you or an agent"], ["forgotten", "forgotten"]].map(([name, words]) => html`<option value=${name} selected=${name === params.state}>${words}</option>`)}</select><//>
      <${Field} label="Since"><${Input} name="since" placeholder="2 weeks ago" value=${params.since} onChange=${change} /><//>
    </div><${Projects} />
    <details><summary>Tell it something</summary><${Tell} said=${said} project=${params.project} /></details>
    <${Answer} asked=${asked}>${(/** @type {any} */ list) => html`
      <p class="quiet" role="status">${list.forgotten ? `${plural(list.forgotten.length, "decision")} to forget${list.more ? ", and more" : ""}, the latest first.` : list.memories.length === 0 ? "Nothing of that is remembered." : `${plural(list.memories.length, "memory")}${list.more ? ", and more" : ""}, the latest first.`}</p>
      <ul class="rows">${list.memories.map((/** @type {any} */ memory) => html`<${MemoryRow} key=${memory.full_id} memory=${memory} />`)}</ul>
      ${list.forgotten && html`<ul class="rows">${list.forgotten.map((/** @type {any} */ one) => html`<${Forgotten} key=${one.operation} one=${one} said=${said} />`)}</ul>`}
      <${Older} list=${list} view="memories" params=${params} limit=${limit} />`}<//>`;
}

/** A memory that was forgotten, as far as something is known of it. @param {{one: any, said: (text: string) => void}} props */
function Forgotten({ one, said }) {
  const [problem, setProblem] = useState(null);
  const bring = () => { send("/undo", { operation: one.operation }).then(() => said("It is remembered again."), setProblem); };
  return html`<li><strong><${Text} text=${one.title ?? (one.session_title ? `A memory of the session “${one.session_title}”` : one.full_id)} /></strong> <span class="quiet">forgotten <${When} at=${one.at} /></span>
    <button type="button" onClick=${bring}>Bring back</button>${problem && html`<${Trouble} problem=${problem} />`}</li>`;
}

/** @param {{said: (text: string, canUndo?: boolean) => void, project?: string}} props */
function Tell({ said, project }) {
  const [problem, setProblem] = useState(null);
  const submit = (/** @type {any} */ event) => {
    event.preventDefault();
    const form = event.target;
    const given = Object.fromEntries(new FormData(form));
    send("/memories", { text: given.text, type: given.type, rule: given.rule === "on", project: given.project || undefined }).then(
      () => { form.reset(); setProblem(null); said("Remembered.", true); }, setProblem);
  };
  return html`<form class="stack" onSubmit=${submit}>
    <${Field} label="Text"><textarea name="text" required rows="3"></textarea><//>
    <div class="fields"><${Field} label="Type"><select name="type">${TYPES.map((type) => html`<option selected=${type === "decision"}>${type}</option>`)}</select><//>
    <${Field} label="Project (every one if empty)"><input name="project" list="projects" defaultValue=${project ?? ""} /><//></div>
    <label><input type="checkbox" name="rule" /> A rule: every session that starts is told</label>
    ${problem && html`<${Trouble} problem=${problem} />`}<p><button>Remember</button></p></form>`;
}

/** @param {{id: string, said: (text: string, canUndo?: boolean) => void}} props */
export function Memory({ id, said }) {
  // The version first: what is shown is then never older than it.
  const history = useAsk(`/memories/${encodeURIComponent(id)}/history`, {}, ["memory", "decision", "briefing"]);
  const asked = useAsk(history.busy && !history.answer ? null : `/memories/${encodeURIComponent(id)}`, {}, ["memory", "decision"]);
  return html`<${Answer} asked=${asked}>${(/** @type {any} */ pieces) => {
    const memory = pieces.memories[0];
    const passage = pieces.passages[0];
    if (passage) return html`<${Passage} passage=${passage} />`;
    return html`<${Whole} memory=${memory} history=${history.answer} said=${said} again=${() => { history.again(); asked.again(); }} />`;
  }}<//>`;
}

/** @param {{memory: any, history: any, said: (text: string, canUndo?: boolean) => void, again: () => void}} props */
function Whole({ memory, history, said, again }) {
  const [edits, setEdits] = useState(false);
  const [problem, setProblem] = useState(null);
  const forget = () => send("/memories/forget", { ids: [memory.full_id] }).then(() => { said(`Forgot “${memory.title || memory.id}”.`, true); location.hash = to("memories"); }, setProblem);
  const agree = () => send(`/memories/${memory.full_id}`, { agree: true }, "PATCH").then(() => { said("Agreed: starting sessions are told of it.", true); again(); }, setProblem);
  const isSummary = memory.type === "summary";
  return html`<article class="memory"><${Heading} title=${memory.title || memory.excerpt} />
    <p class="quiet"><span class="type ${memory.type}">${memory.type}</span> ${memory.project && html`<a href=${to("memories", undefined, { project: memory.project_key ?? memory.project })}><${Text} text=${memory.project} /></a> · `}<${When} at=${memory.at} />
      ${memory.session && html` · <a href=${to("session", memory.session, { turn: memory.turn || "" })}>its session</a>`}
      ${memory.rule && html` · <strong>rule</strong>`}${memory.uncertain && " · uncertain"}${memory.told && ` · ${teller(memory)}`}${memory.edited && " · corrected"}${memory.refined && " · worded by a model"}${memory.superseded && html` · <strong>superseded</strong>`} · ${plural(memory.tokens, "token")}</p>
    ${edits && html`<${Edit} memory=${memory} base=${history?.base} done=${(/** @type {boolean} */ is) => { setEdits(false); if (is) { said("Changed.", true); again(); } }} />`}
    <div class="columns"><div>${isSummary ? html`<${Summary} summary=${memory.body} />` : html`<${Observation} body=${memory.body} />`}
      <p class="actions">${!isSummary && !edits && html`<button type="button" data-key="e" onClick=${() => setEdits(true)}>Edit</button> `}
        ${memory.told && !memory.of_person && html`<button type="button" onClick=${agree}>Agree</button> `}
        <button type="button" data-key="x" class="danger" onClick=${forget}>Forget</button></p></div>
      <${Source} memory=${memory} /></div>
    ${problem && html`<${Trouble} problem=${problem} />`}
    ${history && html`<${History} history=${history} />`}<${Around} id=${memory.full_id} /></article>`;
}

/** Statements, each with the passages that it stands on. @param {{title: string, statements: any}} props */
function Statements({ title, statements }) {
  const all = [statements ?? []].flat().filter((/** @type {any} */ one) => one?.text);
  return all.length > 0 && html`<section><h2>${title}</h2>${all.map((/** @type {any} */ one) => html`<div class="statement"><${Markdown} text=${one.text} />${one.sources?.map((/** @type {string} */ source, /** @type {number} */ index) => html` <a class="cite" href=${to("memory", source)}>source${one.sources.length > 1 ? ` ${index + 1}` : ""}</a>`)}</div>`)}</section>`;
}

/** @param {{body: any}} props */
function Observation({ body }) {
  return html`<${Statements} title="Asked" statements=${body.asked} /><${Statements} title="In short" statements=${body.narrative} />
    <${Statements} title="Report" statements=${body.report} /><${Statements} title="Facts" statements=${body.facts} />
    <${Files} title="Changed files" files=${body.files_modified} /><${Files} title="Read files" files=${body.files_read} />
    ${body.concepts?.length > 0 && html`<p class="quiet">${body.concepts.join(", ")}</p>`}`;
}

/** @param {{title: string, files?: string[]}} props */
function Files({ title, files }) {
  return files && files.length > 0 && html`<details open=${files.length < 6}><summary>${title}: ${files.length}</summary><ul class="files">${files.map((file) => html`<li><a href=${to("search", undefined, { q: file.split("/").pop(), file })}><${Text} text=${file} /></a></li>`)}</ul></details>`;
}

/** @param {{summary: any}} props */
function Summary({ summary }) {
  const { digest } = summary;
  return html`${SECTIONS.map(([name, title]) => html`<${Statements} title=${title} statements=${digest[name]} />`)}<${Files} title="Changed files" files=${digest.files} />
    ${digest.outcome && html`<p class="quiet">Outcome: ${digest.outcome}</p>`}`;
}

const SECTIONS = [["request", "Asked for"], ["investigated", "Looked into"], ["learned", "Learned"], ["completed", "Done"], ["decisions", "Decided"], ["next_steps", "Next"], ["open_questions", "Open"], ["state", "State"]];

/** The passages that a memory was made from, beside it. @param {{memory: any}} props */
function Source({ memory }) {
  const [shown, setShown] = useState(true);
  const body = memory.body;
  const named = body.sources ?? (body.digest ? SECTIONS.flatMap(([name]) => [body.digest[name] ?? []].flat().flatMap((/** @type {any} */ one) => one.sources ?? [])) : []);
  const ids = [...new Set(named)].slice(0, 12);
  const asked = useAsk(shown && ids.length > 0 ? `/memories/${ids.join(",")}` : null);
  if (ids.length === 0) return html`<aside class="source"><h2>Source</h2><p class="quiet">It was told as it is.</p></aside>`;
  return html`<aside class="source"><h2>Source <button type="button" data-key="o" aria-expanded=${shown} onClick=${() => setShown(!shown)}>${shown ? "Hide" : "Show"}</button></h2>
    ${shown && html`<${Answer} asked=${asked}>${(/** @type {any} */ pieces) => pieces.passages.map((/** @type {any} */ one) => html`<figure key=${one.full_id}><figcaption class="quiet"><a href=${to("memory", one.id)}>${speaker(one)}</a> · turn ${one.turn} · <${When} at=${one.at} /></figcaption>
      <pre tabindex="0" class="recorded ${one.outcome ?? ""}"><${Text} text=${short(one.text)} /></pre></figure>`)}<//>`}</aside>`;
}

/** @param {string} text */
const short = (text) => (text.length > 1500 ? `${text.slice(0, 1500)}…` : text);

/** @param {{memory: any, base?: string, done: (is: boolean) => void}} props */
function Edit(props) {
  // What was there when it was opened, whatever comes meanwhile.
  const [{ memory, base, done }] = useState(props);
  const [problem, setProblem] = useState(/** @type {any} */ (null));
  const first = useRef(null);
  useEffect(() => { first.current?.focus(); }, []);
  const text = memory.body.narrative?.text ?? "";
  const submit = (/** @type {any} */ event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(event.target));
    const change = /** @type {Record<string, any>} */ ({ base });
    if (given.title !== memory.title) change.title = given.title;
    if (given.text !== text) change.text = given.text;
    if (given.type !== memory.type) change.type = given.type;
    if ((given.rule === "on") !== memory.rule) change.rule = given.rule === "on";
    if (Object.keys(change).length === 1) return done(false);
    send(`/memories/${memory.full_id}`, change, "PATCH").then(() => done(true), setProblem);
  };
  return html`<form class="stack" onSubmit=${submit}>
    <${Field} label="Title"><input name="title" ref=${first} maxlength="200" defaultValue=${memory.title} /><//>
    <${Field} label="Text"><textarea name="text" rows="6" defaultValue=${text}>${text}</textarea><//>
    <${Field} label="Type"><select name="type">${TYPES.map((type) => html`<option selected=${type === memory.type}>${type}</option>`)}</select><//>
    <label><input type="checkbox" name="rule" defaultChecked=${memory.rule} /> A rule: every session that starts is told</label>
    ${problem && html`<${Trouble} problem=${problem} />${problem.status === 409 && html`<p><button type="button" onClick=${() => done(true)}>Show it as it is now</button></p>`}`}
    <p class="actions"><button>Save</button> <button type="button" onClick=${() => done(false)}>Cancel</button></p></form>`;
}

/** @param {{history: any}} props */
function History({ history }) {
  return html`<section><h2>Where it was told</h2>${history.briefings.length === 0 ? html`<p class="quiet">No session was given it yet.</p>`
    : html`<div class="scroll" tabindex="0"><table class="wide"><thead><tr><th scope="col">When</th><th scope="col">Session</th><th scope="col">Occasion</th><th scope="col">Why</th><th scope="col">Used</th></tr></thead>
    <tbody>${history.briefings.map((/** @type {any} */ one) => html`<tr><td><${When} at=${one.at} /></td><td><a href=${to("session", one.session)}><${Text} text=${one.title ?? one.session.slice(0, 8)} /></a></td><td>${one.occasion}</td><td><${Text} text=${one.reason} /></td><td>${used(one)}</td></tr>`)}</tbody></table></div>`}</section>
    ${history.decisions.length > 0 && html`<section><h2>What you decided</h2><ul>${history.decisions.map((/** @type {any} */ one) => html`<li><${When} at=${one.at} />: <${Text} text=${one.text} />${one.undone_by && " (taken back)"}</li>`)}</ul></section>`}`;
}

/** @param {{fetched: boolean, touched: boolean}} use */
export const used = (use) => (use.fetched ? "asked for" : use.touched ? "worked on its files" : html`<span class="quiet">not seen</span>`);

/** What was remembered before and after it. @param {{id: string}} props */
function Around({ id }) {
  const [shown, setShown] = useState(false);
  const asked = useAsk(shown ? `/memories/${id}/timeline` : null);
  return html`<details onToggle=${(/** @type {any} */ event) => setShown(event.target.open)}><summary>Before and after</summary>
    ${shown && html`<${Answer} asked=${asked}>${(/** @type {any} */ line) => html`<ul class="rows">${[...line.before, line.anchor, ...line.after].filter(Boolean).map((one) => html`<${MemoryRow} key=${one.full_id} memory=${one} />`)}</ul>`}<//>`}</details>`;
}

/** One passage, whole. @param {{passage: any}} props */
function Passage({ passage }) {
  const [shown, setShown] = useState(false);
  const asked = useAsk(shown ? `/memories/${passage.full_id}` : null, { source: true });
  return html`<article><${Heading} title=${`Passage ${passage.id}`} />
    <p class="quiet">${speaker(passage)} · turn ${passage.turn} · <${When} at=${passage.at} />${passage.session && html` · <a href=${to("session", passage.session.id, { turn: passage.turn })}><${Text} text=${passage.session.title ?? "its session"} /></a>`}${passage.outcome === "failed" && html` · <strong class="failed">failed</strong>`}</p>
    ${passage.command && html`<p><${Copy} text=${passage.command} /></p>`}
    ${passage.kind === "tool" ? html`<pre tabindex="0" class="recorded"><${Text} text=${passage.text} /></pre>` : html`<${Markdown} text=${passage.text} />`}
    <p><button type="button" data-key="o" aria-expanded=${shown} onClick=${() => setShown(!shown)}>${shown ? "Hide the record" : "Show the record it came from"}</button></p>
    ${shown && html`<${Answer} asked=${asked}>${(/** @type {any} */ pieces) => (pieces.passages[0]?.source ?? []).map((/** @type {any} */ record) => html`<pre tabindex="0" class="recorded"><${Text} text=${typeof record === "string" ? record : JSON.stringify(record, null, 2)} /></pre>`)}<//>`}</article>`;
}
