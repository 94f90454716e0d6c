// @ts-check
// Activity: a day for each square, and the tokens that context took. Charts are our own SVG with a table behind.
import { html } from "/assets/preact.js";
import { Answer, Heading, SessionRow, Text, count, plural, to, useAsk } from "/assets/parts.js";

/** @param {{params: Record<string, string>}} props */
export function Today({ params }) {
  const days = params.days === "90" ? 90 : 365;
  const since = `${days} days ago`;
  const work = useAsk("/stats", { since }, ["session"]);
  const context = useAsk("/stats/context", { since }, ["briefing"]);
  const spending = useAsk("/spending", { since }, ["decision"]);
  const today = useAsk("/sessions", { since: "today", limit: 50 }, ["session"]);
  return html`<${Heading} title="Activity"><p><a href=${to("today", undefined, { days: days === 90 ? "" : 90 })}>${days === 90 ? "Show a year" : "Show 90 days"}</a></p><//>
    <section><h2>Today</h2><${Answer} asked=${today}>${(/** @type {any} */ list) => list.sessions.length === 0 ? html`<p class="quiet">No session yet.</p>` : html`<ul class="rows">${list.sessions.map((/** @type {any} */ one) => html`<${SessionRow} key=${one.id} session=${one} />`)}</ul>`}<//></section>
    <section><h2>The last ${days} days</h2><${Answer} asked=${work}>${(/** @type {any} */ stats) => html`<${Heatmap} stats=${stats} days=${days} />
      <dl class="figures"><div><dt>Sessions</dt><dd>${count(stats.total.sessions)}</dd></div><div><dt>Prompts</dt><dd>${count(stats.total.prompts)}</dd></div><div><dt>Tool calls</dt><dd>${count(stats.total.tools)}</dd></div><div><dt>Active</dt><dd>${hours(stats.total.active_seconds)}</dd></div></dl>
      ${stats.projects.length > 0 && html`<div class="scroll" tabindex="0"><table><caption>By project</caption><thead><tr><th scope="col">Project</th><th scope="col">Sessions</th><th scope="col">Prompts</th><th scope="col">Active</th></tr></thead><tbody>${stats.projects.map((/** @type {any} */ one) => html`<tr><th scope="row">${one.project ? html`<a href=${to("sessions", undefined, { project: one.project_key ?? one.project })}><${Text} text=${one.project} /></a>` : "no project"}</th><td>${count(one.work.sessions)}</td><td>${count(one.work.prompts)}</td><td>${hours(one.work.active_seconds)}</td></tr>`)}</tbody></table></div>`}`}<//></section>
    <section><h2>Tokens</h2><${Answer} asked=${context}>${(/** @type {any} */ sum) => html`<p>Context that sessions were given: ${plural(sum.tokens, "token")} with ${plural(sum.memories, "memory")}.</p>
      ${sum.days.length > 0 && html`<${PerDay} days=${sum.days} />`}
      ${sum.occasions.length > 0 && html`<${Bars} rows=${sum.occasions.map((/** @type {any} */ one) => [one.occasion, one.tokens])} unit="tokens" />`}`}<//>
    <${Answer} asked=${spending}>${(/** @type {any} */ spent) => spent.rows.length === 0 ? html`<p class="quiet">No model was asked.</p>` : html`<div class="scroll" tabindex="0"><table><caption>What models cost</caption><thead><tr><th scope="col">Model</th><th scope="col">For</th><th scope="col">Outcome</th><th scope="col">Questions</th><th scope="col">Tokens</th><th scope="col">Cents</th></tr></thead><tbody>${spent.rows.map((/** @type {any} */ row) => html`<tr><th scope="row"><${Text} text=${row.model} /></th><td>${row.purpose}</td><td>${row.outcome}</td><td>${count(row.questions)}</td><td>${count(row.input_tokens + row.output_tokens)}</td><td>${row.cost_micros === null ? "not known" : (row.cost_micros / 1e4).toFixed(1)}</td></tr>`)}</tbody></table></div>`}<//></section>`;
}

/** @param {number} seconds */
const hours = (seconds) => (seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`);

/** A square for each day, a column for each week. @param {{stats: any, days: number}} props */
function Heatmap({ stats, days }) {
  const prompts = new Map(stats.days.map((/** @type {any} */ one) => [one.day, one.work.prompts]));
  // One day of a thousand prompts must not flatten all others.
  const sorted = [...prompts.values()].sort((one, other) => one - other);
  const most = Math.max(1, sorted[Math.floor(sorted.length * 0.9)] ?? 1);
  const first = new Date();
  first.setDate(first.getDate() - days);
  const offset = (first.getDay() + 6) % 7;
  const squares = [];
  const months = [];
  for (let number = 0; number <= days; number++) {
    const date = new Date(first);
    date.setDate(first.getDate() + number);
    const name = `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, "0")}-${String(date.getDate()).padStart(2, "0")}`;
    const made = prompts.get(name) ?? 0;
    const level = made === 0 ? 0 : 1 + Math.min(3, Math.floor((made / most) * 4));
    const at = number + offset;
    if (date.getDate() === 1) months.push(html`<text x=${Math.floor(at / 7) * 14} y="108">${date.toLocaleString("en", { month: "short" })}</text>`);
    squares.push(html`<rect x=${Math.floor(at / 7) * 14} y=${(at % 7) * 14} width="12" height="12" rx="2" class="level${level}"><title>${name}: ${plural(made, "prompt")}</title></rect>`);
  }
  const width = (Math.floor((days + offset) / 7) + 1) * 14;
  return html`<div class="scroll latest" tabindex="0"><svg role="img" aria-label=${`Prompts a day: ${plural(prompts.size, "active day")} of ${days}. The table below has the numbers.`} viewBox="0 0 ${width} 112" width=${width} height="112">${squares}${months}</svg></div>
    <p class="quiet">A square is a day from Monday down to Sunday; the stronger its colour, the more prompts.</p>
    <details><summary>As a table</summary><div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Day</th><th scope="col">Sessions</th><th scope="col">Prompts</th><th scope="col">Tool calls</th></tr></thead><tbody>${stats.days.map((/** @type {any} */ one) => html`<tr><th scope="row">${one.day}</th><td>${count(one.work.sessions)}</td><td>${count(one.work.prompts)}</td><td>${count(one.work.tools)}</td></tr>`)}</tbody></table></div></details>`;
}

/** Tokens given on each day, beside those of the recorded work that they stand for. @param {{days: any[]}} props */
function PerDay({ days }) {
  const shown = days.slice(0, 60).reverse();
  const most = Math.max(1, ...shown.map((one) => one.tokens));
  return html`<div class="scroll latest" tabindex="0"><svg role="img" aria-label=${`Tokens given on ${plural(days.length, "day")}. The table below has the numbers.`} viewBox="0 0 ${shown.length * 14} 60" width=${shown.length * 14} height="60">${shown.map((one, at) => {
    const height = Math.max(1, Math.round((one.tokens / most) * 58));
    return html`<rect x=${at * 14} y=${60 - height} width="12" height=${height} class="level3"><title>${one.day}: ${plural(one.tokens, "token")}</title></rect>`;
  })}</svg></div>
    <details><summary>As a table</summary><div class="scroll" tabindex="0"><table><thead><tr><th scope="col">Day</th><th scope="col">Times</th><th scope="col">Tokens given</th><th scope="col">Tokens of the work they stand for</th></tr></thead><tbody>${days.map((one) => html`<tr><th scope="row">${one.day}</th><td>${count(one.times)}</td><td>${count(one.tokens)}</td><td>${count(one.work_tokens)}</td></tr>`)}</tbody></table></div></details>`;
}

/** Bars, each with its number. @param {{rows: [string, number][], unit: string}} props */
function Bars({ rows, unit }) {
  const most = Math.max(1, ...rows.map(([, number]) => number));
  return html`<table class="bars"><thead class="hidden"><tr><th scope="col">What</th><th scope="col">${unit}</th></tr></thead><tbody>${rows.map(([name, number]) => html`<tr><th scope="row">${name}</th><td><svg aria-hidden="true" viewBox="0 0 100 8" preserveAspectRatio="none" width="100%" height="8"><rect width=${(number / most) * 100} height="8" class="level3" /></svg></td><td>${count(number)}</td></tr>`)}</tbody></table>`;
}
