// @ts-check
// The server: one session for a tab, questions and changes, and the stream of what is new.

/** A reason why the server did not do what it was asked. */
export class Problem extends Error {
  /** @param {number} status @param {string} kind @param {string} detail @param {{kind: string, value?: any}=} remedy */
  constructor(status, kind, detail, remedy) {
    super([detail, remedy && wayOut(remedy)].filter(Boolean).join(" "));
    this.status = status;
    this.kind = kind;
  }
}

/** The next step, for a person who looks at the page and has a terminal.
 * @param {{kind: string, value?: any}} remedy */
function wayOut({ kind, value }) {
  switch (kind) {
    case "choose": return `Name one: ${value.join(", ")}.`;
    case "write_more": return `Write more of it: ${value.join(", ")}.`;
    case "did_you_mean": return `Did you mean ${value.names.map((/** @type {string} */ name) => `\`${name}\``).join(" or ")}?`;
    case "open_session": return "It is among the sessions.";
    case "not_a_session": return value === "forget" ? "Forget it on its own page, among the sessions." : "Search finds its memories.";
    case "not_a_passage": case "forget_or_remember": return "Tell what you know better, among the memories.";
    case "import": return "`thru import` reads the history on this machine.";
    case "rebuild": return "`thru rebuild` makes the store again from journal and archive.";
    case "doctor": return "The page Health says what can be done.";
    case "set": return `\`thru config set ${value.key}${value.value ? ` ${value.value}` : ""}\` changes that.`;
    case "show_setting": return `\`thru config show ${value} --origin\` says where it is set.`;
    case "try_again": return "Try again in a moment.";
    case "run": return `\`thru ${value.command}\` ${value.purpose}.`;
    case "advice": case "by_hand": return `${value.charAt(0).toUpperCase()}${value.slice(1)}.`;
    default: return "";
  }
}

const TOKEN = "throughline.token";
const PROOF = "throughline.proof";

/** Opens a session with the code of a link, and takes the code out of the address and the history. */
export async function openSession() {
  const code = /^#code=([0-9a-f]+)$/.exec(location.hash)?.[1];
  if (code) {
    history.replaceState(null, "", "/");
    const session = await request("/api/v1/session", { method: "POST", body: { code }, bare: true });
    sessionStorage.setItem(TOKEN, session.token);
    sessionStorage.setItem(PROOF, session.proof);
  }
  if (!sessionStorage.getItem(TOKEN)) throw new Problem(401, "no_session", "This page was not opened by a link.");
  await checkServer();
}

/** Makes sure that the program at this address is the one that opened the session, before it is sent the token. */
async function checkServer() {
  const token = sessionStorage.getItem(TOKEN) ?? "";
  const health = await request(`/health?for=${encodeURIComponent(token.split(".")[0])}`, { bare: true });
  if (health.proof !== sessionStorage.getItem(PROOF)) {
    throw new Problem(401, "no_session", "This address belongs to another server, or to a session that has ended.");
  }
}

/** @param {string} path @param {{method?: string, body?: any, bare?: boolean, signal?: AbortSignal}} options */
async function request(path, { method = "GET", body, bare = false, signal } = {}) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (!bare) headers.Authorization = `Bearer ${sessionStorage.getItem(TOKEN)}`;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  try {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const response = await fetch(path, { method, headers, body: text, signal, credentials: "omit", cache: "no-store" });
    if (response.ok) return await response.json();
    // A refusal by what stands between may have no JSON.
    const refusal = await response.json().catch(() => ({}));
    throw new Problem(response.status, refusal.kind ?? "failed", refusal.detail ?? response.statusText, refusal.remedy);
  } catch (error) {
    // A question may be given up, or the server go away, in the middle of the answer, too.
    if (error instanceof Problem || signal?.aborted) throw error;
    throw new Problem(0, "away", "The daemon does not answer. `thru view` starts it.");
  }
}

/** @param {Record<string, any>} params */
export function query(params) {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false);
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
}

/** Asks a question. @param {string} path @param {Record<string, any>} [params] @param {AbortSignal} [signal] */
export function ask(path, params = {}, signal) {
  const text = query(params);
  return request(`/api/v1${path}${text ? `?${text}` : ""}`, { signal });
}

/** Changes something. @param {string} path @param {any} body @param {string} [method] */
export function send(path, body, method = "POST") {
  return request(`/api/v1${path}`, { method, body });
}

/** @type {Set<(event: string, data: any) => void>} */
const listeners = new Set();

/** Calls `listener` with everything that is new, until the function that it returns is called.
 * @param {(event: string, data: any) => void} listener */
export function listen(listener) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Follows the stream for ever, and comes back when it breaks off. @param {(state: string) => void} onState */
export async function follow(onState) {
  let last = "";
  let pause = 1000;
  for (;;) {
    await shown();
    // A browser has few connections for all tabs: one that is not seen takes none.
    const abort = new AbortController();
    const hide = () => document.hidden && abort.abort();
    document.addEventListener("visibilitychange", hide);
    try {
      await checkServer();
      /** @type {Record<string, string>} */
      const headers = { Authorization: `Bearer ${sessionStorage.getItem(TOKEN)}` };
      if (last) headers["Last-Event-ID"] = last;
      const response = await fetch("/api/v1/events", { headers, credentials: "omit", cache: "no-store", signal: abort.signal });
      if (!response.ok || !response.body) throw new Problem(response.status, "stream", response.statusText);
      onState("live");
      pause = 1000;
      const reader = response.body.getReader();
      const decoder = new TextDecoder();
      let text = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        text = (text + decoder.decode(value, { stream: true })).replaceAll("\r\n", "\n");
        const messages = text.split("\n\n");
        text = messages.pop() ?? "";
        for (const message of messages) last = deliver(message) ?? last;
      }
    } catch (error) {
      if (error instanceof Problem && error.status === 401) return onState("ended");
    }
    document.removeEventListener("visibilitychange", hide);
    if (abort.signal.aborted) continue;
    onState("away");
    await new Promise((resolve) => setTimeout(resolve, pause + Math.random() * 500));
    pause = Math.min(pause * 2, 15000);
  }
}

/** Waits until the page is seen. */
function shown() {
  if (!document.hidden) return Promise.resolve();
  return new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
}

/** @param {string} message */
function deliver(message) {
  /** @type {Record<string, string>} */
  const fields = {};
  for (const line of message.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).replace(/^ /, "");
  }
  if (fields.event) {
    const data = JSON.parse(fields.data || "{}");
    for (const listener of listeners) listener(fields.event, data);
  }
  return fields.id;
}
