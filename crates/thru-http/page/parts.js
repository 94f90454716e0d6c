// @ts-check
// Parts that several screens share. Recorded text only ever becomes text nodes.
import { html, useCallback, useEffect, useRef, useState } from "/assets/preact.js";
import { ask, listen } from "/assets/api.js";

/** Characters that cannot be seen, or that turn what follows around. */
const INVISIBLE = /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff])/;

/** Recorded text, with the characters that cannot be seen made visible. @param {{text: any}} props */
export function Text({ text }) {
  return String(text ?? "").split(INVISIBLE).map((part, index) =>
    index % 2 === 0 ? part : html`<span class="invisible">U+${part.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}</span>`);
}

/** Text in which the words that were looked for are marked. @param {{text: string, terms: string[]}} props */
export function Marked({ text, terms }) {
  const words = terms.filter((term) => term.length > 1).map((term) => term.replace(/[^\p{L}\p{N}]/gu, "\\$&"));
  if (words.length === 0) return html`<${Text} text=${text} />`;
  const parts = text.split(new RegExp(`((?<![\\p{L}\\p{N}])(?:${words.join("|")})[\\p{L}\\p{N}]*)`, "giu"));
  return parts.map((part, index) => index % 2 === 0 ? html`<${Text} text=${part} />` : html`<mark><${Text} text=${part} /></mark>`);
}

/** A line across. */
const RULE = /^\s*([-*_])(\s*\1){2,}\s*$/;

/** The line below a table's head. */
const COLUMNS = /^\s*\|?(\s*:?-{2,}:?\s*\|)+\s*(:?-{2,}:?)?\s*$/;

/** The cells of a table's line. @param {string} line */
const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());

/** Markdown of a few kinds: headings, lists, tables, quotes, rules, code, emphasis, links to the web. All else is text.
 * @param {{text: any}} props */
export function Markdown({ text }) {
  const blocks = [];
  const lines = String(text ?? "").split("\n");
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at];
    const fence = /^\s*(```+|~~~+)/.exec(line);
    if (fence) {
      const code = [];
      for (at++; at < lines.length && !lines[at].trimStart().startsWith(fence[1]); at++) code.push(lines[at]);
      blocks.push(html`<pre tabindex="0"><code><${Text} text=${code.join("\n")} /></code></pre>`);
    } else if (RULE.test(line)) {
      blocks.push(html`<hr />`);
    } else if (/^#{1,6} /.test(line)) {
      blocks.push(html`<p class="heading"><${Inline} text=${line.replace(/^#+ /, "")} /></p>`);
    } else if (/^\s*([-*+]|\d+[.)]) /.test(line)) {
      const items = [];
      for (; at < lines.length && /^\s*([-*+]|\d+[.)]) /.test(lines[at]) && !RULE.test(lines[at]); at++) items.push(lines[at].replace(/^\s*([-*+]|\d+[.)]) /, ""));
      at--;
      blocks.push(html`<ul>${items.map((item) => html`<li><${Inline} text=${item} /></li>`)}</ul>`);
    } else if (line.includes("|") && COLUMNS.test(lines[at + 1] ?? "")) {
      const rows = [cells(line)];
      for (at += 2; at < lines.length && lines[at].includes("|"); at++) rows.push(cells(lines[at]));
      at--;
      const [head, ...body] = rows;
      blocks.push(html`<div class="scroll" tabindex="0"><table><thead><tr>${head.map((cell) => html`<th scope="col"><${Inline} text=${cell} /></th>`)}</tr></thead><tbody>${body.map((row) => html`<tr>${row.map((cell) => html`<td><${Inline} text=${cell} /></td>`)}</tr>`)}</tbody></table></div>`);
    } else if (line.startsWith("> ")) {
      blocks.push(html`<blockquote><${Inline} text=${line.slice(2)} /></blockquote>`);
    } else if (line.trim()) {
      const paragraph = [line];
      while (at + 1 < lines.length && lines[at + 1].trim() && !RULE.test(lines[at + 1]) && !/^\s*([-*+]|\d+[.)]) |^#{1,6} |^\s*(```|~~~)|^> /.test(lines[at + 1])) paragraph.push(lines[++at]);
      blocks.push(html`<p>${paragraph.map((one, index) => html`${index > 0 && html`<br />`}<${Inline} text=${one} />`)}</p>`);
    }
  }
  return html`<div class="markdown">${blocks}</div>`;
}

/** Text in a line, with code, emphasis and links to the web. @param {{text: string}} props */
export function Inline({ text }) {
  const parts = text.split(/(`[^`]+`|\*\*[^*]+\*\*|!?\[[^\]]+\]\([^)\s]+\))/);
  return parts.map((part, index) => {
    if (index % 2 === 0) return html`<${Text} text=${part} />`;
    if (part.startsWith("`")) return html`<code><${Text} text=${part.slice(1, -1)} /></code>`;
    if (part.startsWith("**")) return html`<strong><${Text} text=${part.slice(2, -2)} /></strong>`;
    const [, name, target] = /^!?\[([^\]]+)\]\(([^)\s]+)\)$/.exec(part) ?? [];
    if (!/^(https?:\/\/|mailto:)/i.test(target ?? "")) return html`<${Text} text=${part} />`;
    return html`<a href=${target} target="_blank" rel="noreferrer noopener"><${Text} text=${name} /></a>`;
  });
}

const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const UNITS = /** @type {const} */ ([["year", 31536e6], ["month", 2592e6], ["week", 6048e5], ["day", 864e5], ["hour", 36e5], ["minute", 6e4]]);

/** A time, as people say it; exactly where one points at it. @param {{at: string | null | undefined}} props */
export function When({ at }) {
  if (!at) return html`<span class="quiet">undated</span>`;
  const moment = new Date(at);
  const ago = Date.now() - moment.getTime();
  const unit = UNITS.find(([, length]) => Math.abs(ago) >= length);
  const words = unit ? RELATIVE.format(-Math.round(ago / unit[1]), unit[0]) : "just now";
  return html`<time datetime=${at} title=${moment.toLocaleString()}>${words}</time>`;
}

/** @param {number | null | undefined} number */
export const count = (number) => (number ?? 0).toLocaleString("en");

/** @param {number} number @param {string} noun */
export const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : noun.endsWith("y") ? "" : "s"}`.replace(/y$/, (y) => (number === 1 ? y : "ies"));

/** The address of a screen. @param {string} screen @param {string} [id] @param {Record<string, any>} [params] */
export function to(screen, id, params = {}) {
  const given = Object.entries(params).filter(([, value]) => value);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `#/${screen}${id ? `/${encodeURIComponent(id)}` : ""}${text ? `?${text}` : ""}`;
}

/** The share of the time that a question may be asked again in while much comes: one in so many parts. */
const SHARE = 20;

/** The answer to a question. It is asked again when something comes that it is about.
 * @param {string | null} path @param {Record<string, any>} [params] @param {string[]} [events] */
export function useAsk(path, params = {}, events = []) {
  const [state, setState] = useState(/** @type {{answer?: any, problem?: any, busy: boolean, key?: string}} */ ({ busy: true }));
  const [turn, setTurn] = useState(0);
  const key = path + JSON.stringify(params);
  const again = useCallback(() => setTurn((turn) => turn + 1), []);
  const took = useRef(0);
  useEffect(() => {
    if (path === null) return setState({ busy: false });
    const abort = new AbortController();
    // What is shown stays until the answer comes, unless it is about something else.
    setState((state) => (state.key === key ? { ...state, busy: true } : { busy: true, key }));
    let timer = 0;
    const began = performance.now();
    ask(path, params, abort.signal).then(
      (answer) => {
        took.current = performance.now() - began;
        if (!abort.signal.aborted) setState({ answer, busy: false, key });
      },
      (problem) => {
        if (abort.signal.aborted) return;
        // Another process writes, or the daemon is just started anew: what is shown may stay meanwhile.
        const passes = [0, 503, 504].includes(problem.status);
        setState((state) => (passes && state.answer ? { ...state, busy: false } : { problem, busy: false, key }));
        if (passes) timer = setTimeout(again, 2000);
      },
    );
    return () => { abort.abort(); clearTimeout(timer); };
  }, [key, turn]);
  useEffect(() => {
    if (events.length === 0) return;
    let timer = 0;
    const stop = listen((event) => {
      if (event !== "reset" && !events.includes(event)) return;
      timer ||= setTimeout(() => { timer = 0; again(); }, Math.min(Math.max(200, SHARE * took.current), 5000));
    });
    return () => { stop(); clearTimeout(timer); };
  }, [key]);
  return { ...state, again };
}

/** What a question led to: its answer, or why there is none.
 * @param {{asked: {answer?: any, problem?: any, busy: boolean}, children: (answer: any) => any}} props */
export function Answer({ asked, children }) {
  if (asked.answer) return html`<div aria-busy=${asked.busy}>${children(asked.answer)}</div>`;
  if (asked.problem) return html`<${Trouble} problem=${asked.problem} />`;
  return html`<p class="quiet waiting" role="status">Looking…</p>`;
}

/** @param {{problem: any}} props */
export function Trouble({ problem }) {
  return html`<div class="trouble" role="alert"><p><${Inline} text=${problem.message} /></p></div>`;
}

/** The heading of a screen, which gets the focus when the screen opens. @param {{title: string, children?: any}} props */
export function Heading({ title, children }) {
  const heading = useRef(null);
  useEffect(() => {
    document.title = `${title} · Throughline`;
    if (document.activeElement === document.body) heading.current?.focus();
  }, [title]);
  return html`<header class="screen"><h1 tabindex="-1" ref=${heading}><${Text} text=${title} /></h1>${children}</header>`;
}

/** The one who told a memory. @param {any} memory */
export function teller(memory) {
  if (memory.imported) return `from ${memory.imported.from}`;
  return memory.of_person ? "told" : "told by an agent";
}

/** A memory in a line. @param {{memory: any, children?: any}} props */
export function MemoryRow({ memory, children }) {
  return html`<li class="row" data-row>
    <a href=${to("memory", memory.id)}><span class="type ${memory.type}">${memory.type ?? "forgotten"}</span> <${Text} text=${memory.title || memory.excerpt || "no longer remembered"} /></a>
    <span class="quiet meta">${memory.project && html`<${Text} text=${memory.project} /> · `}<${When} at=${memory.at} />
    ${memory.rule && html` · <strong>rule</strong>`}${memory.edited && " · corrected"}${memory.told && ` · ${teller(memory)}`}${memory.superseded && " · superseded"}${memory.files_gone_since > 0 && ` · ${plural(memory.files_gone_since, "file")} gone`}</span>
    ${children}
  </li>`;
}

/** A session in a line. @param {{session: any, children?: any}} props */
export function SessionRow({ session, children }) {
  return html`<li class="row" data-row>
    <a href=${to("session", session.id)}><${Text} text=${session.title ?? "Untitled session"} /></a>
    <span class="quiet meta"><${Text} text=${session.agent} />${session.project && html` · <${Text} text=${session.project} />`} · <${When} at=${session.ended ?? session.started} /> · ${plural(session.turns, "turn")}
    ${session.state === "active" && html` · <span class="live">active</span>`}</span>
    ${children}
  </li>`;
}

/** Words to copy, such as a command. @param {{text: string}} props */
export function Copy({ text }) {
  const [done, setDone] = useState(false);
  const copy = () => navigator.clipboard.writeText(text).then(() => setDone(true), () => setDone(false));
  return html`<span class="copy"><code><${Text} text=${text} /></code> <button type="button" onClick=${copy}>${done ? "Copied" : "Copy"}</button></span>`;
}

/** The way to what is older: more on this page, and then another one. @param {{list: any, view: string, params: Record<string, string>, limit: number}} props */
export function Older({ list, view, params, limit }) {
  const next = limit < 500 ? { limit: Math.min(limit + 100, 500) } : { cursor: list.next };
  return list.more && html`<p><a class="button" href=${to(view, undefined, { ...params, ...next })}>${limit < 500 ? "Show more" : "Older"}</a></p>`;
}

/** A text field that keeps what is typed, whatever comes meanwhile, until the value that it shows is another one.
 * @param {any} props */
export function Input({ value, ...rest }) {
  const [text, setText] = useState(value ?? "");
  useEffect(() => setText(value ?? ""), [value]);
  return html`<input ...${rest} value=${text} onInput=${(/** @type {any} */ event) => setText(event.target.value)} />`;
}

/** A text field or a list that changes the address when it is left. @param {{label: string, children: any}} props */
export function Field({ label, children }) {
  return html`<label class="field"><span>${label}</span>${children}</label>`;
}

/** The names of projects, for fields. */
export function Projects() {
  const { answer } = useAsk("/projects");
  return html`<datalist id="projects">${answer?.projects.map((/** @type {any} */ one) => html`<option value=${answer.projects.filter((/** @type {any} */ other) => other.name === one.name).length > 1 ? one.key : one.name}>${one.name}</option>`)}</datalist>`;
}
