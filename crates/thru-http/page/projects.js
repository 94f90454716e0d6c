// @ts-check
// Projects: what there is of each, and putting right what belongs together.
import { html, useState } from "/assets/preact.js";
import { send } from "/assets/api.js";
import { Answer, Field, Heading, Projects, Text, Trouble, When, count, plural, to, useAsk } from "/assets/parts.js";

/** @param {{said: (text: string, canUndo?: boolean) => void}} props */
export function ProjectList({ said }) {
  const asked = useAsk("/projects", {}, ["session", "decision"]);
  const status = useAsk("/status", {}, ["decision"]);
  return html`<${Heading} title="Projects" />
    ${status.answer && html`<${Recording} status=${status.answer} again=${status.again} said=${said} />`}<${Projects} />
    <${Answer} asked=${asked}>${(/** @type {any} */ list) => list.projects.length === 0 ? html`<p>No projects yet. <code>thru import</code> reads the history on this machine.</p>`
      : html`<ul class="cards">${list.projects.map((/** @type {any} */ one) => html`<${Project} key=${one.key} project=${one} said=${said} again=${asked.again} />`)}</ul>`}<//>`;
}

/** @param {{project: any, said: (text: string, canUndo?: boolean) => void, again: () => void}} props */
function Project({ project, said, again }) {
  const [problem, setProblem] = useState(null);
  const change = (/** @type {string} */ path, /** @type {any} */ body, /** @type {string} */ text) => send(path, body).then(() => { setProblem(null); said(text, true); again(); }, setProblem);
  const rename = (/** @type {any} */ event) => { event.preventDefault(); const name = event.target.elements.name.value; change("/projects/rename", { project: project.key, name }, `It is now called ${name}.`); };
  const merge = (/** @type {any} */ event) => { event.preventDefault(); const into = event.target.elements.into.value; change("/projects/merge", { from: project.key, into }, `${project.name} is now part of ${into}.`); };
  return html`<li class="card" data-row><a href=${to("sessions", undefined, { project: project.key })}><${Text} text=${project.name} /></a>
    <p class="quiet">${plural(project.sessions, "session")}, ${plural(project.passages, "passage")} · <${When} at=${project.last} /> · <a href=${to("memories", undefined, { project: project.key })}>memories</a> · <a href=${to("briefings", undefined, { project: project.key })}>what a session would be told</a></p>
    <p class="quiet"><code><${Text} text=${project.key} /></code>${project.merged.map((/** @type {string} */ key) => html`<br />with <code><${Text} text=${key} /></code>`)}</p>
    <details><summary>Rename or merge</summary>
      <form class="line" onSubmit=${rename}><${Field} label="New name"><input name="name" required maxlength="100" /><//><button>Rename</button></form>
      <form class="line" onSubmit=${merge}><${Field} label="Make it part of"><input name="into" required list="projects" /><//><button>Merge</button></form>
      ${problem && html`<${Trouble} problem=${problem} />`}</details></li>`;
}

/** @param {{status: any, said: (text: string) => void, again: () => void}} props */
function Recording({ status, said, again }) {
  const set = (/** @type {string} */ path, /** @type {any} */ body, /** @type {string} */ text) => send(path, body).then(() => { said(text); again(); }, (problem) => said(problem.message));
  if (status.recording === "paused") return html`<p>Recording is paused${status.paused_until && html` until <${When} at=${status.paused_until} />`}. <button type="button" onClick=${() => set("/capture/resume", {}, "Recording goes on.")}>Go on recording</button></p>`;
  if (status.recording !== "on") return "";
  return html`<p>Sessions are recorded. <button type="button" onClick=${() => set("/capture/pause", { length: "1h" }, "Recording is paused for an hour.")}>Pause for an hour</button></p>`;
}
