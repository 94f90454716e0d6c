// An editor extension as the guide of claude-mem writes it for VS Code: what its activation, its command, its save hook, its idle
// timer and its end do. Node stands for the extension host; `fetch` sends what it sends there.
//
//     node tools/worker-clients/editor.mjs http://localhost:37777
//
// Prints what was answered, as JSON. Ends with 1 where an answer is none that such an extension understands.

const worker = process.argv[2];
const sessionId = `vscode-${process.argv[3] ?? "1"}`;
const project = "lighthouse";

/** Sends JSON the way the guide does: without naming its type. */
const post = (path, body) => fetch(`${worker}${path}`, { method: "POST", body: JSON.stringify(body), signal: AbortSignal.timeout(10_000) });

async function checked(response) {
  const text = await response.text();
  if (!response.ok) {
    console.error(`${response.url}: ${response.status} ${text}`);
    process.exit(1);
  }
  return response.headers.get("content-type").startsWith("application/json") ? JSON.parse(text) : text;
}

// activate()
const before = await checked(await fetch(`${worker}/api/context/inject?project=${project}`));
// The command of the chat.
const begun = await checked(await post("/sessions/init", { sessionId, project, userPrompt: "Why does the lamp blink twice?" }));
// onDidSaveTextDocument
const saved = await checked(await post("/api/sessions/observations", {
  claudeSessionId: sessionId, tool_name: "FileSave", tool_input: { path: "/work/lighthouse/src/lamp.rs" },
  tool_response: "File saved successfully",
}));
// The idle timer.
const idle = await checked(await post("/sessions/summarize", {
  claudeSessionId: sessionId, last_user_message: "Why does the lamp blink twice?",
  last_assistant_message: "The lamp blinked twice because the relay bounced. I debounced it in src/lamp.rs.",
}));
await checked(await post("/api/processing", { isProcessing: false }));
// deactivate()
const ended = await checked(await post("/sessions/complete", { claudeSessionId: sessionId, reason: "exit" }));
// What the next window is told, and what its search finds.
const found = await checked(await fetch(`${worker}/api/search?query=lamp+blink&format=json`));
const after = await checked(await fetch(`${worker}/api/context/inject?project=${project}`));

console.log(JSON.stringify({ before, begun, saved, idle, ended, prompts: found.prompts.map((row) => row.prompt_text), after }));
