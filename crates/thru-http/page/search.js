// @ts-check
// Search: the order of the command line, with the reasons for it.
import { html, useEffect, useState } from "/assets/preact.js";
import { Answer, Field, Heading, Input, Marked, MemoryRow, Projects, SessionRow, Text, When, plural, to, useAsk } from "/assets/parts.js";

const TYPES = ["bugfix", "feature", "refactor", "change", "discovery", "decision", "summary", "prompt", "answer", "tool"];
const AGENTS = ["claude-code", "codex", "copilot"];

/** @param {{params: Record<string, string>}} props */
export function Search({ params }) {
  const [text, setText] = useState(params.q ?? "");
  useEffect(() => setText(params.q ?? ""), [params.q]);
  const go = (/** @type {Record<string, string>} */ more) => { location.hash = to("search", undefined, { ...params, ...more }); };
  const submit = (/** @type {Event} */ event) => { event.preventDefault(); go({ q: text.trim() }); };
  const change = (/** @type {any} */ event) => go({ [event.target.name]: event.target.value });
  const chips = ["project", "type", "agent", "file", "session", "since", "until"].filter((name) => params[name]);
  const asked = useAsk(params.q ? "/search" : null, { ...params, nearest: true, turns: true }, ["reset"]);
  return html`<${Heading} title="Search" />
    <form role="search" class="search" onSubmit=${submit}>
      <label for="query" class="hidden">What to look for</label>
      <input id="query" type="search" autocomplete="off" placeholder="What was said, done, or decided" value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)} />
      <button>Search</button>
    </form>
    <details class="filters" open=${chips.length > 0}><summary>Filters${chips.length > 0 && `: ${chips.length}`}</summary>
      <div class="fields">
        <${Field} label="Project"><${Input} name="project" list="projects" value=${params.project} onChange=${change} /><//>
        <${Field} label="Type"><select name="type" value=${params.type ?? ""} onChange=${change}><option value="">any</option>${TYPES.map((type) => html`<option value=${type} selected=${type === params.type}>${type}</option>`)}</select><//>
        <${Field} label="Agent"><select name="agent" value=${params.agent ?? ""} onChange=${change}><option value="">any</option>${AGENTS.map((agent) => html`<option value=${agent} selected=${agent === params.agent}>${agent}</option>`)}</select><//>
        <${Field} label="Session"><${Input} name="session" placeholder="start of its id" value=${params.session} onChange=${change} /><//>
        <${Field} label="File"><${Input} name="file" value=${params.file} onChange=${change} /><//>
        <${Field} label="Since"><${Input} name="since" placeholder="2 weeks ago" value=${params.since} onChange=${change} /><//>
        <${Field} label="Until"><${Input} name="until" placeholder="yesterday" value=${params.until} onChange=${change} /><//>
      </div><${Projects} />
      <p class="chips">${chips.map((name) => html`<a class="chip" href=${to("search", undefined, { ...params, [name]: "" })}>${name}: <${Text} text=${params[name]} /> <span aria-hidden="true">×</span><span class="hidden">remove</span></a> `)}</p>
    </details>
    ${params.q ? html`<${Answer} asked=${asked}>${(/** @type {any} */ found) => html`<${Found} found=${found} params=${params} />`}<//>` : html`<${Welcome} />`}`;
}

/** What to do first. */
function Welcome() {
  const asked = useAsk("/status", {}, ["session", "memory"]);
  return html`<${Answer} asked=${asked}>${(/** @type {any} */ status) => html`<div class="welcome">
    ${status.sessions === 0 ? html`<p><strong>Nothing is remembered yet.</strong></p>
      <ol><li>${status.recording === "not-connected" ? html`Connect your agents, and read the history that they left: <code>thru up</code>` : "Your agents are connected."}</li>
      <li>Read their history: <code>thru import</code></li><li>Then ask here for anything that was said or done.</li></ol>`
    : html`<p>${plural(status.sessions, "session")} of ${plural(status.projects, "project")}, with ${plural(status.memories, "memory")} made of them. Nothing in a question is syntax; press <kbd>/</kbd> to begin, <kbd>?</kbd> for all keys.</p>
      ${status.unindexed_sessions > 0 && html`<p class="quiet">${plural(status.unindexed_sessions, "session")} still to be indexed: they are found by words until then.</p>`}
      ${status.recording === "not-connected" && html`<p class="quiet">No agent is connected: <code>thru install</code> has new sessions recorded as they happen.</p>`}
      <${Recent} />`}</div>`}<//>`;
}

function Recent() {
  const asked = useAsk("/sessions", { limit: 8 }, ["session"]);
  return html`<${Answer} asked=${asked}>${(/** @type {any} */ list) => html`<h2>Latest sessions</h2>
    <ul class="rows">${list.sessions.map((/** @type {any} */ session) => html`<${SessionRow} key=${session.id} session=${session} />`)}</ul>`}<//>`;
}

/** @param {{found: any, params: Record<string, string>}} props */
function Found({ found, params }) {
  const passages = found.sessions.reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + one.passages.length, 0);
  const isEmpty = passages + found.memories.length === 0 && !found.work;
  return html`
    <p class="quiet" role="status" aria-live="polite">${isEmpty ? "Nothing found." : html`${plural(found.memories.length, "memory")}, ${plural(passages, "passage")} in ${plural(found.sessions.length, "session")}${!found.is_confident && !found.work && html`. <strong>Nothing seems to answer it; this is the nearest.</strong>`}`}</p>
    ${found.corrections?.length > 0 && html`<p class="quiet">Not found as written: ${found.corrections.map((/** @type {any} */ one) => html`for <q><${Text} text=${one.typed} /></q> read <q><${Text} text=${one.read} /></q> `)}</p>`}
    ${found.gaps?.length > 0 && html`<p class="quiet">${found.gaps.map((/** @type {any} */ gap) => html`${gap.kind === "unknown" ? "Nothing mentions" : gap.kind === "elsewhere" ? "Mentioned, but in nothing near this:" : "No session speaks of both"} <q><${Text} text=${gap.word} /></q>${gap.other && html` and <q><${Text} text=${gap.other} /></q>`}. `)}</p>`}
    ${isEmpty && html`<p>${params.project ? html`<a href=${to("search", undefined, { ...params, project: "" })}>Look in every project</a>` : "Try other words, or fewer."}</p>`}
    ${found.work?.before && html`<p class="quiet">No session in that time. The last one before it:</p>`}
    ${found.work && !found.work.before && found.work.sessions.length === 0 && html`<p class="quiet">No session is known to have left anything open.</p>`}
    ${found.work && html`<ul class="rows">${[...found.work.sessions, ...(found.work.before ? [found.work.before] : [])].map((/** @type {any} */ one) => html`<${SessionRow} key=${one.id} session=${one}>${(one.steps ?? []).map((/** @type {any} */ step) => html`<p class="snippet">open: <${Text} text=${step} /></p>`)}<//>`)}</ul>`}
    ${found.memories.length > 0 && html`<section><h2>In short</h2><ul class="rows">${found.memories.map((/** @type {any} */ memory) => html`<${MemoryRow} key=${memory.full_id} memory=${memory}><details class="explain"><summary>Why here</summary><p class="quiet">${memory.score.toFixed(2)} in all; ${Math.round(memory.coverage * 100)} % of the question's words by their weight${memory.similarity !== null && memory.similarity !== undefined && `, meaning ${memory.similarity.toFixed(2)}`}.</p></details><//>`)}</ul></section>`}
    ${found.sessions.map((/** @type {any} */ session) => html`<section key=${session.id} class="hits"><ul class="rows"><${SessionRow} session=${session} /></ul>
      <ul class="passages">${session.passages.map((/** @type {any} */ hit) => html`<li key=${hit.full_id} data-row>
        <a href=${to("memory", hit.id)} class="who ${hit.outcome ?? ""}">${speaker(hit)}</a> <span class="quiet">turn ${hit.turn} · <${When} at=${hit.at} /></span>
        <p class="snippet"><${Marked} text=${hit.snippet} terms=${found.terms} /></p>
        <details class="explain"><summary>Why here</summary><${Score} score=${hit.score} /></details></li>`)}</ul></section>`)}
    ${found.left_out > 0 && html`<p class="quiet">${plural(found.left_out, "more passage")} left out.</p>`}
    ${found.preparation.left_out.length > 0 && html`<p class="quiet">${plural(found.preparation.left_out.length, "recent session")} not in this answer yet.</p>`}
    <p class="quiet">${found.meaning.without ? html`Meaning was not compared: <${Text} text=${found.meaning.without} />.` : found.meaning.model ? "Words and meaning were compared." : ""}</p>`;
}

/** Who speaks in a passage. @param {any} passage */
export function speaker(passage) {
  if (passage.kind === "human" || passage.kind === "prompt") return "You";
  if (passage.kind === "tool") return html`<${Text} text=${passage.tool ?? "tool"} />`;
  return "Agent";
}

/** @param {{score: any}} props */
function Score({ score }) {
  return html`<table><thead><tr><th scope="col">Feature</th><th scope="col">Value</th><th scope="col">Weight</th><th scope="col">Adds</th></tr></thead>
    <tbody>${Object.entries(score.features).map(([name, one]) => html`<tr><th scope="row">${name}</th>${[one.value, one.weight, one.contribution].map((number) => html`<td>${number.toFixed(2)}</td>`)}</tr>`)}
    <tr><th scope="row">together</th><td></td><td></td><td>${score.total.toFixed(2)}</td></tr></tbody></table>`;
}
