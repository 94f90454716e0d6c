// @ts-check
// Sessions: listed, and one by its turns and passages, live while it runs.
import { html, useEffect, useState } from "/assets/preact.js";
import { send } from "/assets/api.js";
import { Answer, Copy, Field, Heading, Input, Markdown, MemoryRow, Older, Projects, SessionRow, Text, Trouble, When, count, plural, to, useAsk } from "/assets/parts.js";

/** Turns shown at a time. */
const TURNS = 100;

/** The turns behind so many others; what came before the first prompt stands with the first ones. @param {number} from */
const turnsFrom = (from) => (from === 0 ? { first: 0, limit: TURNS + 1 } : { first: from + 1, limit: TURNS });

/** @param {{params: Record<string, string>}} props */
export function Sessions({ params }) {
  const change = (/** @type {any} */ event) => { location.hash = to("sessions", undefined, { ...params, cursor: "", [event.target.name]: event.target.value }); };
  const limit = Number(params.limit ?? 50);
  const asked = useAsk("/sessions", { ...params, limit }, ["session"]);
  return html`<${Heading} title="Sessions" />
    <div class="fields"><${Field} label="Project"><${Input} name="project" list="projects" value=${params.project} onChange=${change} /><//>
    <${Field} label="Since"><${Input} name="since" placeholder="2 weeks ago" value=${params.since} onChange=${change} /><//>
    <${Field} label="Before"><${Input} name="until" placeholder="yesterday" value=${params.until} onChange=${change} /><//></div><${Projects} />
    <${Answer} asked=${asked}>${(/** @type {any} */ list) => html`<p class="quiet" role="status">${list.sessions.length === 0 ? "No sessions." : `${plural(list.sessions.length, "session")}${list.more ? ", and more" : ""}, the latest first.`}</p>
      <ul class="rows">${list.sessions.map((/** @type {any} */ one) => html`<${SessionRow} key=${one.id} session=${one} />`)}</ul>
      <${Older} list=${list} view="sessions" params=${params} limit=${limit} />`}<//>`;
}

/** @param {{id: string, params: Record<string, string>, said: (text: string, canUndo?: boolean) => void}} props */
export function Session({ id, params, said }) {
  const before = Math.max(0, Number(params.turn ?? 0) - 1);
  const first = before - (before % TURNS);
  const asked = useAsk(`/sessions/${encodeURIComponent(id)}/turns`, turnsFrom(first), ["session"]);
  return html`<${Answer} asked=${asked}>${(/** @type {any} */ whole) => html`<${Outline} whole=${whole} said=${said} turn=${params.turn} first=${first} />`}<//>`;
}

/** @param {{whole: any, turn?: string, first: number, said: (text: string, canUndo?: boolean) => void}} props */
function Outline({ whole, turn, first, said }) {
  const { session } = whole;
  const memories = useAsk("/memories", { session: session.id, limit: 200 }, ["memory", "decision"]);
  const committed = useAsk("/facts", { about: `${session.agent}/${session.id}`, relation: "COMMITTED", history: true, limit: 100 }, ["session"]);
  const commits = (committed.answer?.facts ?? []).filter((/** @type {any} */ one) => one.relation === "COMMITTED" && one.object);
  const failed = whole.failed_commands;
  return html`<article><${Heading} title=${session.title ?? "Untitled session"} />
    <p class="quiet"><${Text} text=${session.agent} />${session.project && html` · <a href=${to("sessions", undefined, { project: session.project_key ?? session.project })}><${Text} text=${session.project} /></a>`} · <${When} at=${session.started} />${session.state && ` · ${session.state}`} · ${plural(session.turns, "turn")}, ${plural(session.passages, "passage")}${session.compactions > 0 && `, ${plural(session.compactions, "compaction")}`}${session.branch && html` · <${Text} text=${session.branch} />`}</p>
    <${Resume} session=${session} />
    <p><a href=${to("briefings", undefined, { session: session.id })}>What it was told</a>${failed > 0 && html` · <span class="failed">${plural(failed, "failed command")}</span>`}</p>
    ${failed > 0 && html`<${Failures} session=${session} failures=${whole.failures} />`}
    ${commits.length > 0 && html`<details open=${commits.length < 6}><summary>${plural(commits.length, "commit")}</summary><ul>${commits.map((/** @type {any} */ one) => html`<li key=${one.id}><a href=${to("memory", one.evidence[0]?.id)}><${Text} text=${one.object.name} /></a> <span class="quiet"><${When} at=${one.from} /></span></li>`)}</ul></details>`}
    ${whole.files.length > 0 && html`<details><summary>${plural(whole.files.length, "file")}</summary><ul class="files">${whole.files.map((/** @type {any} */ file) => html`<li><${Text} text=${file.path} /> <span class="quiet">${file.modified > 0 ? `changed ${count(file.modified)} ×` : "read"}</span></li>`)}</ul></details>`}
    ${memories.answer?.memories.length > 0 && html`<details><summary>${plural(memories.answer.memories.length, "memory")} of it</summary><ul class="rows">${memories.answer.memories.map((/** @type {any} */ one) => html`<${MemoryRow} key=${one.full_id} memory=${one} />`)}</ul></details>`}
    <${Turns} session=${session} turns=${whole.turns} turn=${turn} from=${first} />
    <${Transcript} id=${session.id} total=${session.passages} />
    <${ForgetSession} session=${session} said=${said} /></article>`;
}

/** Where in the session commands failed: a mark for each such turn, which leads there. @param {{session: any, failures: any[]}} props */
function Failures({ session, failures }) {
  const most = Math.max(...failures.map((one) => one.commands));
  return html`<ul class="minimap" aria-label="Turns with failed commands">${failures.map((one) => html`<li key=${one.turn} style=${`left: ${((one.turn / Math.max(1, session.turns)) * 98).toFixed(2)}%`}><a href=${to("session", session.id, { turn: one.turn || 1 })} class=${one.commands > most / 2 ? "many" : ""} title=${`Turn ${one.turn}: ${plural(one.commands, "failed command")}`}><span class="hidden">Turn ${one.turn}: ${plural(one.commands, "failed command")}</span></a></li>`)}</ul>`;
}

/** The turns, so many at a time: a long session has a thousand. @param {{session: any, turns: any[], turn?: string, from: number}} props */
function Turns({ session, turns, turn, from }) {
  useEffect(() => { if (turn) document.querySelector(`[data-turn="${CSS.escape(turn)}"]`)?.scrollIntoView(); }, [turn]);
  const go = (/** @type {number} */ first) => { location.hash = to("session", session.id, { turn: first + 1 }); };
  const pages = session.turns > TURNS && html`<${Pages} from=${from} size=${TURNS} total=${session.turns} go=${go} />`;
  return html`<section><h2>Turns</h2>${pages}<ol class="turns">${turns.map((one) => html`<${Turn} key=${one.turn} turn=${one} />`)}</ol>${pages}</section>`;
}

/** Buttons to the parts of a long list. @param {{from: number, size: number, total: number, go: (from: number) => void}} props */
function Pages({ from, size, total, go }) {
  return html`<p class="actions"><button type="button" disabled=${from === 0} onClick=${() => go(Math.max(0, from - size))}>Earlier</button> <span class="quiet">${count(from + 1)} to ${count(Math.min(from + size, total))} of ${count(total)}</span> <button type="button" disabled=${from + size >= total} onClick=${() => go(from + size)}>Later</button></p>`;
}

/** @param {{turn: any}} props */
function Turn({ turn }) {
  // There may be thousands of commands, of which most are never looked at.
  const [open, setOpen] = useState(false);
  return html`<li value=${turn.turn} data-turn=${turn.turn} tabindex="-1" class="turn">
    ${turn.prompt && html`<div class="prompt"><${Markdown} text=${clip(turn.prompt.text)} /></div>`}
    ${turn.tool_calls > 0 && html`<details onToggle=${(/** @type {any} */ event) => setOpen(event.target.open)}><summary>${plural(turn.tool_calls, "tool call")}${turn.commands.length > 0 && `, ${plural(turn.commands.length, "command")}`}</summary>
      ${open && html`<ul class="commands">${turn.commands.map((/** @type {any} */ command) => html`<li class=${command.outcome ?? ""}><code><${Text} text=${clip(command.command)} /></code> ${command.runs > 1 && html`<span class="quiet">${command.runs} ×</span>`} ${command.outcome === "failed" && html`<strong class="failed">failed</strong>`}</li>`)}</ul>`}</details>`}
    ${turn.conclusion && html`<div class="conclusion"><${Markdown} text=${clip(turn.conclusion.text)} /><a class="cite" href=${to("memory", turn.conclusion.id)}>whole</a></div>`}</li>`;
}

/** @param {string} text */
const clip = (text) => (text.length > 3000 ? `${text.slice(0, 3000)}…` : text);

/** The session as it was recorded, a page at a time. @param {{id: string, total: number}} props */
function Transcript({ id, total }) {
  const [from, setFrom] = useState(/** @type {number | null} */ (null));
  const size = 100;
  const asked = useAsk(from === null ? null : `/sessions/${encodeURIComponent(id)}/passages`, { from, limit: size }, ["session"]);
  if (from === null) return html`<p><button type="button" data-key="o" onClick=${() => setFrom(0)}>Read it passage by passage</button></p>`;
  const pages = html`<${Pages} from=${from} size=${size} total=${total} go=${setFrom} />`;
  return html`<section><h2>Passages</h2>${pages}<${Answer} asked=${asked}>${(/** @type {any} */ part) => html`<ol class="passages" start=${part.from + 1}>${part.passages.map((/** @type {any} */ one) => html`<li key=${one.full_id} class=${one.kind}>
    <span class="who">${one.kind === "tool" ? html`<${Text} text=${one.tool} />` : one.kind === "assistant" ? "Agent" : "You"}</span> <span class="quiet">turn ${one.turn}${one.subagent && " · subagent"} · <${When} at=${one.at} />${one.outcome === "failed" && html` · <strong class="failed">failed</strong>`} · <a href=${to("memory", one.id)}>${one.id}</a></span>
    ${one.kind === "tool" ? html`<details><summary><${Text} text=${one.text.slice(0, 120).split("\n")[0]} /></summary><pre tabindex="0" class="recorded"><${Text} text=${one.text} /></pre></details>` : html`<${Markdown} text=${one.text} />`}
    ${one.is_cut && html`<a class="cite" href=${to("memory", one.id)}>It goes on</a>`}</li>`)}</ol>`}<//>${pages}</section>`;
}

/** @param {{session: any}} props */
function Resume({ session }) {
  const [found, setFound] = useState(/** @type {any} */ (null));
  const [problem, setProblem] = useState(null);
  if (problem) return html`<${Trouble} problem=${problem} />`;
  if (found) return html`<p><${Copy} text=${`cd '${found.directory.replaceAll("'", "'\\''")}' && ${found.command.join(" ")}`} /></p>`;
  return html`<p><button type="button" onClick=${() => send(`/sessions/${encodeURIComponent(session.id)}/resume`, {}).then(setFound, setProblem)}>Command to resume it</button></p>`;
}

/** @param {{session: any, said: (text: string, canUndo?: boolean) => void}} props */
function ForgetSession({ session, said }) {
  const [plan, setPlan] = useState(/** @type {any} */ (null));
  const [problem, setProblem] = useState(null);
  const path = `/sessions/${encodeURIComponent(session.id)}/forget`;
  const look = () => send(path, { dry_run: true, with_effects: true }).then(setPlan, setProblem);
  const forget = () => send(path, { with_effects: true }).then(() => { said("The session is gone."); location.hash = to("sessions"); }, setProblem);
  return html`<section class="danger-zone"><h2>Forget this session</h2>${problem && html`<${Trouble} problem=${problem} />`}
    ${plan ? html`<p>${plural(plan.passages, "passage")} would be removed for good, and ${plural(plan.memories.length, "memory")} that came of it elsewhere forgotten. <strong>The session cannot be brought back.</strong></p>
      <p class="actions"><button type="button" class="danger" onClick=${forget}>Forget it for good</button> <button type="button" onClick=${() => setPlan(null)}>Keep it</button></p>`
    : html`<p><button type="button" onClick=${look}>See what would go…</button></p>`}</section>`;
}
