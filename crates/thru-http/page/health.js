// @ts-check
// Health and jobs: what runs, what waits or failed and why, and what the doctor says.
import { html, useState } from "/assets/preact.js";
import { send } from "/assets/api.js";
import { Answer, Heading, Inline, Text, When, count, plural, to, useAsk } from "/assets/parts.js";

/** @param {{said: (text: string) => void}} props */
export function Health({ said }) {
  const status = useAsk("/status", {}, ["session", "memory", "decision"]);
  const jobs = useAsk("/jobs", {}, ["session", "memory", "decision"]);
  const [looks, setLooks] = useState(false);
  const doctor = useAsk(looks ? "/doctor" : null);
  return html`<${Heading} title="Health" />
    <${Answer} asked=${status}>${(/** @type {any} */ one) => html`<${Status} status=${one} />`}<//>
    <section><h2>Jobs</h2><${Answer} asked=${jobs}>${(/** @type {any} */ queue) => html`<${Jobs} queue=${queue} said=${said} again=${jobs.again} />`}<//></section>
    <section><h2>Doctor</h2>${looks ? html`<${Answer} asked=${doctor}>${(/** @type {any} */ found) => html`<p role="status">${found.problems === 0 ? "No problem found." : `${plural(found.problems, "problem")} found.`}</p>
      <ul class="findings">${found.findings.map((/** @type {any} */ one) => html`<li class=${one.level}><strong>${one.level}</strong> ${one.check}: <${Inline} text=${one.line} />${one.remedy && html`<br /><span class="quiet"><${Inline} text=${one.remedy} /></span>`}</li>`)}</ul>`}<//>`
      : html`<p>It reads journal and archive to their ends, which can take a while. <button type="button" onClick=${() => setLooks(true)}>Look for problems</button></p>`}</section>`;
}

/** @param {{status: any}} props */
function Status({ status }) {
  const size = (/** @type {number} */ bytes) => (bytes < 1e6 ? `${Math.round(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`);
  const rows = [
    ["Recording", String(status.recording ?? "").replace("-", " ")],
    ["Last event of a hook", status.last_event && html`${status.last_event.event}, <${When} at=${status.last_event.at} />`],
    ["Last written", html`<${When} at=${status.last_intake} />`],
    ["Remembered", `${plural(status.sessions, "session")}, ${plural(status.passages, "passage")}, ${plural(status.memories, "memory")} of ${plural(status.projects, "project")}`],
    ["Waiting in the journal", plural(status.pending_records, "record")],
    ["Sessions to index", count(status.unindexed_sessions)],
    ["Hooks that failed in the last day", count(status.failures_last_day)],
    ["On disk", Object.entries(status.bytes).map(([name, bytes]) => `${name} ${size(Number(bytes))}`).join(", ")],
  ];
  return html`<div class="scroll" tabindex="0"><table class="plain"><tbody>${rows.map(([name, value]) => html`<tr><th scope="row">${name}</th><td>${value || "–"}</td></tr>`)}</tbody></table></div>`;
}

/** @param {{queue: any, said: (text: string) => void, again: () => void}} props */
function Jobs({ queue, said, again }) {
  const change = (/** @type {number} */ number, /** @type {string} */ what, /** @type {string} */ words) => send(`/jobs/${number}/${what}`, {}).then(() => { said(words); again(); }, (problem) => said(problem.message));
  if (queue.jobs.length === 0) return html`<p class="quiet">Nothing is waiting, and nothing has failed.</p>`;
  return html`<p class="quiet">${plural(queue.jobs.length, "job")}, ${queue.dead} given up.</p><div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Job</th><th scope="col">What</th><th scope="col">Session</th><th scope="col">State</th><th scope="col">Why</th><th scope="col"><span class="hidden">Actions</span></th></tr></thead>
    <tbody>${queue.jobs.slice(0, 100).map((/** @type {any} */ job) => html`<tr><td>${job.number}</td><td>${job.what}${job.turn && ` turn ${job.turn}`}</td><td><a href=${to("session", job.session_id)}>${job.session_id.slice(0, 8)}</a></td><td>${job.state}${job.attempts > 0 && `, failed ${job.attempts} ×`}</td><td><${Text} text=${job.error ?? job.reason} /></td>
    <td><button type="button" onClick=${() => change(job.number, "retry", "It will be tried again.")}>Try again</button> <button type="button" onClick=${() => change(job.number, "cancel", "Taken out of the queue.")}>Cancel</button></td></tr>`)}</tbody></table></div>`;
}
