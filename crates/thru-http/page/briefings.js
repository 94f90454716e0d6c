// @ts-check
// What was told: each briefing with its cost, its lines and reasons, and what use was made of it.
import { html } from "/assets/preact.js";
import { Answer, Field, Heading, Inline, Input, Older, Projects, Text, When, count, plural, to, useAsk } from "/assets/parts.js";
import { used } from "/assets/memory.js";

/** @param {{params: Record<string, string>}} props */
export function Briefings({ params }) {
  const change = (/** @type {any} */ event) => { location.hash = to("briefings", undefined, { ...params, cursor: "", [event.target.name]: event.target.value }); };
  const limit = Number(params.limit ?? 30);
  const since = params.since ?? (params.session ? undefined : "30 days ago");
  const asked = useAsk("/briefings", { since, session: params.session, cursor: params.cursor, limit }, ["briefing"]);
  const costs = useAsk("/stats/context", { since: since ?? "10 years ago" }, ["briefing"]);
  return html`<${Heading} title="What was told" />
    <p>What sessions were given from memory, why, and if they used it. Used means: asked for by its id later, or worked on its files.</p>
    <${Answer} asked=${costs}>${(/** @type {any} */ sum) => html`<dl class="figures"><div><dt>Tokens given</dt><dd>${count(sum.tokens)}</dd></div><div><dt>Memories given</dt><dd>${count(sum.memories)}</dd></div><div><dt>Asked for later</dt><dd>${count(sum.fetched)}</dd></div><div><dt>Files worked on</dt><dd>${count(sum.touched)}</dd></div></dl>`}<//>
    <details open=${Boolean(params.project)}><summary>What would a session be told now?</summary>
      <div class="fields"><${Field} label="Project"><${Input} name="project" list="projects" value=${params.project} onChange=${change} /><//>
      <${Field} label="Prompt"><${Input} name="prompt" placeholder="none: a session starts" value=${params.prompt} onChange=${change} /><//></div><${Projects} />
      ${params.project && html`<${Preview} project=${params.project} prompt=${params.prompt} />`}</details>
    ${params.session && html`<p><a class="chip" href=${to("briefings")}>only one session ×</a></p>`}
    <${Answer} asked=${asked}>${(/** @type {any} */ list) => html`
      <p class="quiet" role="status">${list.briefings.length === 0 ? html`No session was given anything in this time. Hooks do that: <code>thru install</code> connects your agents.` : `${plural(list.briefings.length, "briefing")}${list.more ? ", and more" : ""}, the latest first.`}</p>
      ${list.briefings.map((/** @type {any} */ one) => html`<${Given} key=${one.session_id + one.at} briefing=${one} />`)}
      <${Older} list=${list} view="briefings" params=${params} limit=${limit} />`}<//>`;
}

/** @param {{briefing: any}} props */
function Given({ briefing }) {
  const { memories } = briefing;
  const uses = memories.filter((/** @type {any} */ one) => one.fetched || one.touched).length;
  return html`<section class="card" data-row><a href=${to("session", briefing.session_id)}><${Text} text=${briefing.title ?? `Session ${briefing.session_id.slice(0, 8)}`} /></a>
    <p class="quiet">${briefing.project && html`<${Text} text=${briefing.project} /> · `}<${When} at=${briefing.at} /> · ${briefing.occasion} · ${plural(briefing.tokens, "token")} · ${plural(memories.length, "memory")}, ${uses} used</p>
    <details><summary>Its lines</summary><div class="scroll" tabindex="0"><table class="wide"><thead><tr><th scope="col">Memory</th><th scope="col">Why</th><th scope="col">Used</th></tr></thead>
    <tbody>${memories.map((/** @type {any} */ one) => html`<tr><td>${one.title ? html`<a href=${to("memory", one.full_id)}><${Text} text=${one.title} /></a>` : html`<span class="quiet">no longer remembered (${one.id})</span>`}</td><td><${Text} text=${one.reason} /></td><td>${used(one)}</td></tr>`)}</tbody></table></div></details></section>`;
}

/** @param {{project: string, prompt?: string}} props */
function Preview({ project, prompt }) {
  const asked = useAsk("/context", { project, prompt }, ["memory", "decision"]);
  return html`<${Answer} asked=${asked}>${(/** @type {any} */ told) => html`
    <p class="quiet" role="status">${plural(told.tokens, "token")} · <${Text} text=${told.note} /></p>
    ${told.lines.length > 0 && html`<div class="scroll" tabindex="0"><table class="wide"><thead><tr><th scope="col">Line</th><th scope="col">Kind</th><th scope="col">Why</th></tr></thead><tbody>${told.lines.map((/** @type {any} */ line) => html`<tr><td>${line.full_id ? html`<a href=${to("memory", line.full_id)}><${Text} text=${line.title} /></a>` : html`<${Inline} text=${line.title} />`}</td><td>${line.type ?? line.kind}</td><td><${Text} text=${line.reason} /></td></tr>`)}</tbody></table></div>
    <details><summary>The text itself</summary><pre tabindex="0" class="recorded"><${Text} text=${told.text} /></pre></details>`}`}<//>`;
}
