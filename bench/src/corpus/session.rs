//! The course of a session: prompts, answers, tool calls with their results, and all the records in
//! between that no query is about.
//!
//! The shares are those of real transcripts: to ten prompts some fifty answers and a hundred tool
//! calls, nearly as many progress records as messages, and every result twice (as the model saw it and
//! as the client had it), so that the text worth searching is a sixth of the bytes.

use std::fmt::Write;

use super::records::{Recorder, api_id, base64, quote, quoted};
use super::words::Writer;
use crate::rng::Rng;

/// Writes a session with exactly this many messages (user and assistant records).
pub(super) fn write(
    recorder: &mut Recorder,
    rng: &mut Rng,
    texts: &mut Writer<'_>,
    messages: usize,
) {
    let mut left = messages;
    while left > 0 {
        prompt(recorder, rng, texts);
        left -= 1;
        let mut steps = 1 + rng.exponential(9.0) as usize;
        let mut message = api_id(rng, "msg");
        let mut request = api_id(rng, "req");
        while left > 0 && steps > 0 {
            steps -= 1;
            if rng.chance(0.4) {
                message = api_id(rng, "msg");
                request = api_id(rng, "req");
            }
            if rng.chance(0.1) && left > 1 {
                let block = thinking(rng, texts);
                recorder.answer(rng, &message, &request, &block);
                left -= 1;
            }
            if rng.chance(0.5) || left == 1 || steps == 0 {
                let words = 8 + rng.exponential(28.0) as usize;
                let block =
                    format!("{{\"type\":\"text\",\"text\":{}}}", quoted(&texts.prose(rng, words)));
                recorder.answer(rng, &message, &request, &block);
                left -= 1;
            }
            if left >= 2 && steps > 0 {
                tool(recorder, rng, texts, &message, &request);
                left -= 2;
            }
            recorder.wait(rng.between(1_000, 40_000));
        }
        if rng.chance(0.3) {
            let duration = rng.between(1_000, 900_000);
            let body =
                format!("\"subtype\":\"turn_duration\",\"durationMs\":{duration},\"isMeta\":false");
            recorder.record(rng, "system", &body);
        }
        recorder.wait(rng.between(10_000, 900_000));
    }
}

fn prompt(recorder: &mut Recorder, rng: &mut Rng, texts: &mut Writer<'_>) {
    let words = 6 + rng.exponential(30.0) as usize;
    let mut text = texts.prose(rng, words);
    if rng.chance(0.15) {
        let lines = rng.between(3, 30);
        text.push_str("\n\n");
        text.push_str(&texts.log(rng, lines));
    }
    let body = format!("\"message\":{{\"role\":\"user\",\"content\":{}}}", quoted(&text));
    if rng.chance(0.3) {
        let content = format!("\"operation\":\"enqueue\",\"content\":{}", quoted(&text));
        recorder.note("queue-operation", &content);
    }
    let record = recorder.record(rng, "user", &body);
    let mut snapshot = format!(
        "{{\"type\":\"file-history-snapshot\",\"messageId\":\"{record}\",\"snapshot\":{{\
         \"messageId\":\"{record}\",\"trackedFileBackups\":{{"
    );
    for number in 0..rng.below(8) {
        let comma = if number == 0 { "" } else { "," };
        let _ = write!(
            snapshot,
            "{comma}\"{}{number}\":{{\"backupFileName\":\"{:016x}@v{number}\",\"version\":{number}}}",
            texts.file(rng),
            rng.next()
        );
    }
    snapshot.push_str("}},\"isSnapshotUpdate\":false}\n");
    recorder.text.push_str(&snapshot);
    recorder.wait(rng.between(800, 9_000));
}

fn thinking(rng: &mut Rng, texts: &mut Writer<'_>) -> String {
    let words = 20 + rng.exponential(90.0) as usize;
    let mut block = String::from("{\"type\":\"thinking\",\"thinking\":");
    quote(&mut block, &texts.prose(rng, words));
    block.push_str(",\"signature\":\"");
    let length = 300 + rng.exponential(600.0) as usize;
    base64(rng, &mut block, length, true);
    block.push_str("\"}");
    block
}

/// The input of a tool, its result, and the client's own record of it.
struct Work {
    name: &'static str,
    input: String,
    output: String,
    result: String,
}

fn tool(
    recorder: &mut Recorder,
    rng: &mut Rng,
    texts: &mut Writer<'_>,
    message: &str,
    request: &str,
) {
    let directory = "/home/dev/src";
    let work = match rng.below(20) {
        0..=7 => bash(rng, texts),
        8..=13 => read(rng, texts, directory),
        14..=17 => edit(rng, texts, directory),
        _ => grep(rng, texts),
    };
    let id = api_id(rng, "toolu");
    let block = format!(
        "{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"{}\",\"input\":{}}}",
        work.name, work.input
    );
    let call = recorder.answer(rng, message, request, &block);
    progress(recorder, rng, texts, &id, &work);
    recorder.wait(rng.between(50, 20_000));
    let failed = rng.chance(0.06);
    let mut body = String::with_capacity(work.output.len() + work.result.len() + 256);
    let _ = write!(
        body,
        "\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"{id}\",\"type\":\"tool_result\",\
         \"content\":"
    );
    quote(&mut body, &work.output);
    let _ = write!(
        body,
        ",\"is_error\":{failed}}}]}},\"toolUseResult\":{},\"sourceToolAssistantUUID\":\"{call}\"",
        work.result
    );
    recorder.record(rng, "user", &body);
}

fn progress(recorder: &mut Recorder, rng: &mut Rng, texts: &mut Writer<'_>, id: &str, work: &Work) {
    let head = |text: &str| text[..text.floor_char_boundary(text.len().min(600))].to_owned();
    for _ in 0..rng.below(4) {
        let data = if work.name == "Bash" {
            format!(
                "{{\"type\":\"bash_progress\",\"output\":{},\"fullOutput\":{},\"elapsedTimeSeconds\":{},\
                 \"totalLines\":{}}}",
                quoted(&head(&work.output)),
                quoted(&head(&work.output)),
                rng.between(2, 60),
                rng.between(1, 500)
            )
        } else {
            let event = rng.pick(&["PreToolUse", "PostToolUse"]);
            format!(
                "{{\"type\":\"hook_progress\",\"hookEvent\":\"{event}\",\"hookName\":\"{event}:{}\",\
                 \"command\":\"{}\"}}",
                work.name,
                texts.file(rng)
            )
        };
        let body = format!("\"data\":{data},\"parentToolUseID\":\"{id}\",\"toolUseID\":\"{id}\"");
        recorder.record(rng, "progress", &body);
    }
}

/// Lines of a tool's output: mostly few, sometimes very many.
fn lines(rng: &mut Rng) -> usize {
    let mean = if rng.chance(0.12) { 110.0 } else { 9.0 };
    1 + rng.exponential(mean) as usize
}

fn bash(rng: &mut Rng, texts: &mut Writer<'_>) -> Work {
    let command = format!(
        "{} {} && {} {}",
        rng.pick(&["cargo test", "npm run", "rg -n", "git log --oneline", "pytest -k", "make"]),
        texts.identifier(rng),
        rng.pick(&["ls", "cat", "head -50", "wc -l"]),
        texts.file(rng)
    );
    let words = rng.between(3, 7);
    let input = format!(
        "{{\"command\":{},\"description\":{}}}",
        quoted(&command),
        quoted(&texts.prose(rng, words))
    );
    let count = lines(rng);
    let output = texts.log(rng, count);
    let result = format!(
        "{{\"stdout\":{},\"stderr\":\"\",\"interrupted\":false,\"isImage\":false}}",
        quoted(&output)
    );
    Work { name: "Bash", input, output, result }
}

fn read(rng: &mut Rng, texts: &mut Writer<'_>, directory: &str) -> Work {
    let path = format!("{directory}/{}", texts.file(rng));
    let count = 2 * lines(rng);
    let content = texts.code(rng, count);
    let mut output = String::with_capacity(content.len() + 10 * count);
    for (number, line) in content.lines().enumerate() {
        let _ = writeln!(output, "{:6}→{line}", number + 1);
    }
    let result = format!(
        "{{\"type\":\"text\",\"file\":{{\"filePath\":\"{path}\",\"content\":{},\"numLines\":{count},\
         \"startLine\":1,\"totalLines\":{count}}}}}",
        quoted(&content)
    );
    Work { name: "Read", input: format!("{{\"file_path\":\"{path}\"}}"), output, result }
}

fn edit(rng: &mut Rng, texts: &mut Writer<'_>, directory: &str) -> Work {
    let path = format!("{directory}/{}", texts.file(rng));
    let count = rng.between(1, 8);
    let old = texts.code(rng, count);
    let new = texts.code(rng, count + 1);
    // The whole file as it was before: most of the bytes of a real transcript are such copies.
    let whole = 40 + rng.exponential(800.0) as usize;
    let original = texts.code(rng, whole);
    let input = format!(
        "{{\"file_path\":\"{path}\",\"old_string\":{},\"new_string\":{},\"replace_all\":false}}",
        quoted(&old),
        quoted(&new)
    );
    let mut patch = String::new();
    for (sign, side) in [("-", &old), ("+", &new)] {
        for line in side.lines() {
            if !patch.is_empty() {
                patch.push(',');
            }
            quote(&mut patch, &format!("{sign}{line}"));
        }
    }
    let result = format!(
        "{{\"filePath\":\"{path}\",\"oldString\":{},\"newString\":{},\"originalFile\":{},\
         \"structuredPatch\":[{{\"oldStart\":1,\"oldLines\":{count},\"newStart\":1,\"newLines\":{},\
         \"lines\":[{patch}]}}],\"userModified\":false,\"replaceAll\":false}}",
        quoted(&old),
        quoted(&new),
        quoted(&original),
        count + 1
    );
    let output = format!("The file {path} has been updated successfully.");
    Work { name: "Edit", input, output, result }
}

fn grep(rng: &mut Rng, texts: &mut Writer<'_>) -> Work {
    let count = rng.between(1, 30);
    let files: Vec<&str> = (0..count).map(|_| texts.file(rng)).collect();
    let names: Vec<String> = files.iter().map(|file| quoted(file)).collect();
    let input = format!("{{\"pattern\":{},\"path\":\".\"}}", quoted(texts.identifier(rng)));
    let result = format!(
        "{{\"mode\":\"files_with_matches\",\"filenames\":[{}],\"numFiles\":{count}}}",
        names.join(",")
    );
    let output = format!("Found {count} files\n{}", files.join("\n"));
    Work { name: "Grep", input, output, result }
}
