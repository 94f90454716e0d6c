// @ts-check
// Redact and forget: look first, then do it.
import { html, useState } from "/assets/preact.js";
import { send } from "/assets/api.js";
import { Answer, Field, Heading, Projects, SessionRow, Text, Trouble, When, count, plural, useAsk } from "/assets/parts.js";

/** @param {{said: (text: string, canUndo?: boolean) => void}} props */
export function Privacy({ said }) {
  return html`<${Heading} title="Redact and forget" />
    <p>Each of these shows first what it would do. Nothing is changed before you say so a second time.</p>
    <${Redact} said=${said} /><${Forget} said=${said} /><${Log} said=${said} />`;
}

/** Takes one text out of everything. @param {{said: (text: string) => void}} props */
function Redact({ said }) {
  const [text, setText] = useState("");
  const [found, setFound] = useState(/** @type {any} */ (null));
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const run = (/** @type {string} */ what, /** @type {(answer: any) => void} */ then) => {
    setBusy(true);
    setProblem(null);
    send(`/redact/${what}`, { text: text.trim() || undefined }).then(then, setProblem).then(() => setBusy(false));
  };
  const sum = (/** @type {Record<string, number>} */ map) => Object.values(map).reduce((all, one) => all + one, 0);
  return html`<section><h2>Take out a text</h2>
    <p>A key, a name, an address: wherever it stands, in the archive, the journal and the store, a mark replaces it. That cannot be undone. Without a text, only the rules are applied.</p>
    <form class="line" onSubmit=${(/** @type {Event} */ event) => { event.preventDefault(); run("scan", setFound); }}>
      <${Field} label="Text"><input type="password" autocomplete="off" value=${text} onInput=${(/** @type {any} */ event) => { setText(event.target.value); setFound(null); }} /><//><button disabled=${busy}>Look for it</button></form>
    ${busy && html`<p class="quiet" role="status">Looking through everything…</p>`}${problem && html`<${Trouble} problem=${problem} />`}
    ${found && html`<p role="status">${found.places.length === 0 ? "It stands nowhere." : `${plural(sum(found.found), "place")} in ${plural(found.places.length, "record")}.`}${found.verbatim > 0 && ` ${plural(found.verbatim, "file")} kept verbatim by your settings.`}</p>
      ${found.places.length > 0 && html`<ul class="files">${found.places.slice(0, 20).map((/** @type {any} */ one) => html`<li>${one.part} <${Text} text=${one.place} />${one.line && `, line ${one.line}`} <span class="quiet">${Object.keys(one.found).join(", ")}</span></li>`)}</ul>
      <p><button type="button" class="danger" disabled=${busy} onClick=${() => run("apply", (done) => { setFound(null); setText(""); said(`Taken out of ${plural(done.records, "record")}.${done.left.length > 0 ? ` ${plural(done.left.length, "place")} left: run it again.` : ""}`); })}>Take it out for good</button></p>`}`}</section>`;
}

/** Forgets sessions of a project or before a day. @param {{said: (text: string) => void}} props */
function Forget({ said }) {
  const [what, setWhat] = useState({ project: "", before: "" });
  const [plan, setPlan] = useState(/** @type {any} */ (null));
  const [problem, setProblem] = useState(null);
  const change = (/** @type {any} */ event) => { setWhat({ ...what, [event.target.name]: event.target.value }); setPlan(null); };
  const body = { project: what.project || undefined, before: what.before || undefined };
  const look = (/** @type {Event} */ event) => { event.preventDefault(); setProblem(null); send("/forget", { ...body, dry_run: true }).then(setPlan, setProblem); };
  const forget = () => send("/forget", body).then((done) => { setPlan(null); said(`${plural(done.sessions.length, "session")} and ${plural(done.memories.length, "memory")} are forgotten.`); }, setProblem);
  return html`<section><h2>Forget sessions</h2><p>For good, with all that was made of them. The agents' own files are left alone.</p>
    <form class="line" onSubmit=${look}><${Field} label="Of this project"><input name="project" list="projects" value=${what.project} onInput=${change} /><//>
      <${Field} label="That ended before"><input name="before" placeholder="6 months ago" value=${what.before} onInput=${change} /><//><button>See what would go…</button></form><${Projects} />
    ${problem && html`<${Trouble} problem=${problem} />`}
    ${plan && (plan.sessions.length + plan.memories.length === 0 ? html`<p role="status">Nothing to forget.</p>` : html`<p role="status">${plural(plan.sessions.length, "session")} with ${plural(plan.passages, "passage")}, and ${plural(plan.memories.length, "memory")} told of it.</p>
      <ul class="rows">${plan.sessions.slice(0, 20).map((/** @type {any} */ one) => html`<${SessionRow} key=${one.id} session=${one} />`)}</ul>${plan.sessions.length > 20 && html`<p class="quiet">… and ${count(plan.sessions.length - 20)} more</p>`}
      <p><button type="button" class="danger" onClick=${forget}>Forget them for good</button></p>`)}</section>`;
}

/** Decisions, which can be taken back. @param {{said: (text: string, canUndo?: boolean) => void}} props */
function Log({ said }) {
  const asked = useAsk("/log", { limit: 50 }, ["decision"]);
  const undo = (/** @type {string} */ operation) => send("/undo", { operation }).then((undone) => { said(`Undid: ${undone?.text}`); asked.again(); }, (problem) => said(problem.message));
  return html`<section><h2>What you decided</h2><${Answer} asked=${asked}>${(/** @type {any} */ log) => log.entries.length === 0 ? html`<p class="quiet">Nothing was decided yet.</p>`
    : html`<ul class="log">${log.entries.map((/** @type {any} */ one) => html`<li key=${one.full_id}><${When} at=${one.at} />: <${Text} text=${one.text} /> ${one.undone_by ? html`<span class="quiet">taken back</span>` : html`<button type="button" onClick=${() => undo(one.full_id)}>Take back</button>`}</li>`)}</ul>`}<//></section>`;
}
