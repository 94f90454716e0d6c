// @ts-check
// Facts: what is open, and what holds or held of a file, a command, an error, a package, each with the passage that shows it.
import { html } from "/assets/preact.js";
import { Answer, Field, Heading, Input, Older, Projects, Text, When, plural, to, useAsk } from "/assets/parts.js";

/** @param {{params: Record<string, string>}} props */
export function FactList({ params }) {
  const change = (/** @type {any} */ event) => { const { name, type, checked, value } = event.target; location.hash = to("facts", undefined, { ...params, cursor: "", [name]: type === "checkbox" ? checked : value }); };
  const asked = useAsk("/facts", { about: params.about, project: params.project, history: params.history, cursor: params.cursor, limit: 100 }, ["session"]);
  const open = useAsk(params.about ? null : "/problems", { project: params.project }, ["session"]);
  const drawn = useAsk(params.about ? "/facts/drawing" : null, { about: params.about, project: params.project }, ["session"]);
  return html`<${Heading} title="Facts" />
    <div class="fields"><${Field} label="About"><${Input} name="about" placeholder="file, command, error…" value=${params.about} onChange=${change} /><//>
      <${Field} label="Project"><${Input} name="project" list="projects" value=${params.project} onChange=${change} /><//>
      <label><input type="checkbox" name="history" checked=${params.history === "true"} onChange=${change} /> Also what no longer holds</label></div><${Projects} />
    ${!params.about && html`<section><h2>Open problems</h2><${Answer} asked=${open}>${(/** @type {any} */ list) => list.problems.length === 0 ? html`<p class="quiet">None.</p>` : html`<${Rows} facts=${list.problems} />`}<//></section>`}
    ${params.about && html`<section><h2>Graph</h2><${Answer} asked=${drawn}>${(/** @type {any} */ one) => one.entity ? html`
      ${others(asked.answer?.entities, one.entity)}
      <${Drawing} svg=${one.ego} name=${`${one.entity.name} and its neighbours`} /><h2>Time line</h2>
      <${Drawing} svg=${one.timeline} name=${`The time in which the facts about ${one.entity.name} held`} />` : html`<p class="quiet">Nothing to draw.</p>`}<//></section>`}
    <section><h2>${params.about ? "What holds" : "Latest facts"}</h2><${Answer} asked=${asked}>${(/** @type {any} */ list) => html`
      <p class="quiet" role="status">${list.facts.length === 0 ? "Nothing of that is known." : `${plural(list.facts.length, "fact")}${list.more ? ", and more" : ""}, the latest first.`}</p>
      ${list.facts.length > 0 && html`<${Rows} facts=${list.facts} />`}<${Older} list=${list} view="facts" params=${params} limit=${500} />`}<//></section>`;
}

/** The other things of that name, which are not drawn. @param {any[] | undefined} entities @param {any} drawn */
function others(entities, drawn) {
  const rest = (entities ?? []).filter((one) => one.id !== drawn.id).slice(0, 20);
  return rest.length > 0 && html`<p class="quiet">Drawn is <strong><${Text} text=${drawn.name} /></strong>. Also called so: ${rest.map((one) => html`<${Thing} key=${one.id} thing=${one} /> `)}</p>`;
}

/** A drawing of the server, as an image: nothing in it runs. The table below it says the same. @param {{svg: string, name: string}} props */
function Drawing({ svg, name }) {
  return html`<div class="scroll" tabindex="0"><img class="drawing" alt="${name}, as the table below lists it" src=${`data:image/svg+xml,${encodeURIComponent(svg)}`} /></div>`;
}

/** @param {{facts: any[]}} props */
function Rows({ facts }) {
  return html`<div class="scroll" tabindex="0"><table class="wide"><thead><tr><th scope="col">Thing</th><th scope="col">Relation</th><th scope="col">To</th><th scope="col">Since</th><th scope="col">Until</th><th scope="col">Shown by</th></tr></thead>
    <tbody>${facts.map((one) => html`<tr key=${one.id}><td><${Thing} thing=${one.subject} /></td><td>${one.relation.toLowerCase().replaceAll("_", " ")}</td><td>${one.object ? html`<${Thing} thing=${one.object} />` : html`<${Text} text=${one.value} />`}${one.scope && html` <span class="quiet">(<${Text} text=${one.scope} />)</span>`}${one.note && html`<br /><span class="quiet"><${Text} text=${one.note} /></span>`}</td>
    <td><${When} at=${one.from} /></td><td>${one.end ? html`<${When} at=${one.end.at} />` : ""}</td><td>${one.evidence.map((/** @type {any} */ shown) => html`<a href=${to("memory", shown.id)}>${shown.id}</a> `)}</td></tr>`)}</tbody></table></div>`;
}

/** @param {{thing: any}} props */
function Thing({ thing }) {
  return html`<a href=${to("facts", undefined, { about: thing.key, history: "true" })}><${Text} text=${thing.name} /></a> <span class="quiet">${thing.kind}</span>`;
}
