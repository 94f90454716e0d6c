// @ts-check
// The frame: opens the session, shows the screen that the address names, follows what is new, and knows the keys.
import { html, render, useEffect, useRef, useState } from "/assets/preact.js";
import { follow, openSession, send } from "/assets/api.js";
import { Heading, Inline, Text, to } from "/assets/parts.js";
import { Briefings } from "/assets/briefings.js";
import { FactList } from "/assets/facts.js";
import { Health } from "/assets/health.js";
import { Memories, Memory } from "/assets/memory.js";
import { Privacy } from "/assets/privacy.js";
import { ProjectList } from "/assets/projects.js";
import { Search } from "/assets/search.js";
import { Session, Sessions } from "/assets/sessions.js";
import { Today } from "/assets/today.js";

/** The screens by the first part of their address; those with a key stand in the menu. */
const SCREENS = /** @type {Record<string, {show: any, name?: string, key?: string}>} */ ({
  search: { show: Search, name: "Search", key: "s" },
  memories: { show: Memories, name: "Memories", key: "m" },
  memory: { show: Memory },
  briefings: { show: Briefings, name: "What was told", key: "b" },
  sessions: { show: Sessions, name: "Sessions", key: "n" },
  session: { show: Session },
  facts: { show: FactList, name: "Facts", key: "f" },
  projects: { show: ProjectList, name: "Projects", key: "p" },
  today: { show: Today, name: "Activity", key: "t" },
  health: { show: Health, name: "Health", key: "h" },
  privacy: { show: Privacy, name: "Redact and forget", key: "r" },
});

/** Reads the address. */
function place() {
  const [path, search] = location.hash.replace(/^#\/?/, "").split("?");
  const [screen, ...id] = path.split("/");
  return {
    screen: SCREENS[screen] ? screen : "search",
    id: id.length ? decodeURIComponent(id.join("/")) : undefined,
    params: Object.fromEntries(new URLSearchParams(search ?? "")),
  };
}

function App() {
  const [here, setHere] = useState(place());
  const [opened, setOpened] = useState(/** @type {any} */ (null));
  const [stream, setStream] = useState("connecting");
  const [toast, setToast] = useState(/** @type {any} */ (null));
  const [keys, setKeys] = useState(false);
  useEffect(() => {
    const open = () => openSession().then(() => setOpened(true), setOpened);
    const move = () => {
      if (location.hash.startsWith("#code=")) return void open();
      setHere(place());
      scrollTo(0, 0);
    };
    addEventListener("hashchange", move);
    open().then(() => setHere(place()));
    return () => removeEventListener("hashchange", move);
  }, []);
  useEffect(() => { if (opened === true) follow(setStream); }, [opened]);
  useKeys(() => setKeys((open) => !open));
  useEffect(() => {
    if (!toast) return;
    const timer = setTimeout(() => setToast(null), 15000);
    return () => clearTimeout(timer);
  }, [toast]);

  if (opened === null) return html`<main><p class="quiet" role="status">Opening…</p></main>`;
  if (opened !== true || stream === "ended") return html`<${Closed} problem=${opened === true ? null : opened} />`;
  const { show: Screen } = SCREENS[here.screen];
  /** Says that something was done, and offers to take it back. */
  const said = (/** @type {string} */ text, /** @type {boolean} */ canUndo = false) => setToast({ text, canUndo });
  const undo = () => send("/undo", {}).then(
    (undone) => said(`Undid: ${undone?.text ?? "nothing"}`),
    (problem) => said(problem.message),
  );
  return html`
    <a class="skip" href="#main" onClick=${(/** @type {Event} */ event) => { event.preventDefault(); document.querySelector("main")?.focus(); }}>Skip to the content</a>
    <nav aria-label="Screens"><a class="name" href=${to("search")}>Throughline</a>
      <ul>${Object.entries(SCREENS).filter(([, one]) => one.name).map(([name, one]) => html`
        <li><a href=${to(name)} aria-current=${name === here.screen ? "page" : undefined}>${one.name}</a></li>`)}</ul>
      <span class="stream ${stream}" role="status">${stream === "live" ? "live" : stream === "away" ? "reconnecting…" : "connecting…"}</span>
    </nav>
    <main id="main" tabindex="-1"><${Screen} key=${here.screen + (here.id ?? "")} id=${here.id} params=${here.params} said=${said} /></main>
    <div class="toast" role="status" aria-live="polite">${toast && html`<p><${Text} text=${toast.text} />
      ${toast.canUndo && html` <button type="button" data-key="u" onClick=${undo}>Undo</button>`}
      <button type="button" aria-label="Close this message" onClick=${() => setToast(null)}>×</button></p>`}</div>
    ${keys && html`<${Keys} close=${() => setKeys(false)} />`}`;
}

/** @param {{problem: any}} props */
function Closed({ problem }) {
  return html`<main><${Heading} title="Throughline" />
    <p>${problem ? html`<${Inline} text=${problem.message} />` : "The session of this page has ended."}</p>
    <p>In a terminal, <code>thru view</code> opens this page with a new link. A link works once, within a minute.</p></main>`;
}

const KEYS = [
  ["/", "Search"], ["j, k", "Next, previous in a list"], ["Enter", "Open"], ["o", "Show the source"], ["e", "Edit"],
  ["x", "Forget"], ["u", "Undo"], ["[, ]", "Previous, next turn"], ["Esc", "Back"], ["?", "These keys"],
];

/** @param {{close: () => void}} props */
function Keys({ close }) {
  const dialog = useRef(null);
  useEffect(() => { dialog.current?.showModal(); }, []);
  const [on, setOn] = useState(localStorage.getItem("throughline.keys") !== "off");
  const change = () => { localStorage.setItem("throughline.keys", on ? "off" : "on"); setOn(!on); };
  return html`<dialog ref=${dialog} onClose=${close} aria-labelledby="keys-title"><h2 id="keys-title">Keys</h2>
    <dl>${KEYS.map(([key, what]) => html`<dt><kbd>${key}</kbd></dt><dd>${what}</dd>`)}
    ${Object.values(SCREENS).filter((one) => one.key).map((one) => html`<dt><kbd>g</kbd> <kbd>${one.key}</kbd></dt><dd>${one.name}</dd>`)}</dl>
    <p><label><input type="checkbox" checked=${on} onChange=${change} /> Single keys</label></p>
    <form method="dialog"><button>Close</button></form></dialog>`;
}

/** @param {() => void} showKeys */
function useKeys(showKeys) {
  useEffect(() => {
    let isGoing = false;
    const press = (/** @type {KeyboardEvent} */ event) => {
      const target = /** @type {HTMLElement} */ (event.target);
      const isField = target.matches("input:not([type=checkbox]), textarea, select");
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      if (event.key === "Escape") return isField ? target.blur() : place().id !== undefined && history.length > 1 ? history.back() : undefined;
      if (isField || (event.key !== "?" && localStorage.getItem("throughline.keys") === "off")) return;
      const screen = isGoing && Object.entries(SCREENS).find(([, one]) => one.key === event.key);
      isGoing = !screen && event.key === "g";
      if (screen) location.hash = to(screen[0]);
      else if (event.key === "?") showKeys();
      else if (event.key === "/") goToSearch();
      else if (event.key === "j" || event.key === "k") step("[data-row] > a", event.key === "j" ? 1 : -1);
      else if (event.key === "]" || event.key === "[") step("[data-turn]", event.key === "]" ? 1 : -1);
      else if (!clickKey(event.key)) return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

function goToSearch() {
  const field = /** @type {HTMLElement | null} */ (document.querySelector("#query"));
  if (field) field.focus();
  else {
    location.hash = to("search");
    setTimeout(() => /** @type {HTMLElement | null} */ (document.querySelector("#query"))?.focus(), 50);
  }
}

/** Moves the focus along the elements that match. @param {string} selector @param {number} by */
function step(selector, by) {
  const all = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(selector)]);
  const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  all[Math.max(0, Math.min(all.length - 1, at + by))]?.focus();
}

/** Presses the button that has this key. @param {string} key */
function clickKey(key) {
  const button = /** @type {HTMLElement | null} */ (document.querySelector(`[data-key="${CSS.escape(key)}"]`));
  button?.click();
  return button !== null;
}

render(html`<${App} />`, /** @type {HTMLElement} */ (document.querySelector("#app")));
