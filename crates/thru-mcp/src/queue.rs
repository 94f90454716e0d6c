//! The requests that wait to be served. Each tool has a queue of its own, and they take turns: ten thousand
//! searches sent at once do not keep a `ping` or a `remember` waiting.

use std::collections::VecDeque;

use rmcp::model::{ClientRequest, JsonRpcRequest, RequestId};

use crate::tool::Tool;

/// A request that waits.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// The request.
    pub(crate) request: JsonRpcRequest<ClientRequest>,
    /// Its size in bytes.
    pub(crate) bytes: usize,
}

/// The requests that wait, those of the next turn first.
#[derive(Debug, Default)]
pub(crate) struct Queue(VecDeque<Lane>);

/// The requests of one tool, or all that call none. Never empty.
#[derive(Debug)]
struct Lane {
    tool: Option<&'static str>,
    waiting: VecDeque<Waiting>,
}

impl Queue {
    /// Returns true if nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a request behind the others of its tool.
    pub(crate) fn push(&mut self, new: Waiting) {
        let tool = tool_of(&new.request.request);
        match self.0.iter_mut().find(|lane| lane.tool == tool) {
            Some(lane) => lane.waiting.push_back(new),
            None => self.0.push_back(Lane { tool, waiting: VecDeque::from([new]) }),
        }
    }

    /// Takes the first request of the lane whose turn it is.
    pub(crate) fn pop(&mut self) -> Option<Waiting> {
        let mut lane = self.0.pop_front()?;
        let next = lane.waiting.pop_front();
        if !lane.waiting.is_empty() {
            self.0.push_back(lane);
        }
        next
    }

    /// Takes out the request with this id.
    pub(crate) fn remove(&mut self, id: &RequestId) -> Option<Waiting> {
        let is_it = |waiting: &Waiting| waiting.request.id == *id;
        let (lane, at) =
            self.0.iter().enumerate().find_map(|(lane, requests)| {
                Some((lane, requests.waiting.iter().position(is_it)?))
            })?;
        let waiting = &mut self.0.get_mut(lane)?.waiting;
        let removed = waiting.remove(at);
        if waiting.is_empty() {
            self.0.remove(lane);
        }
        removed
    }
}

/// Returns the tool that a request calls.
fn tool_of(request: &ClientRequest) -> Option<&'static str> {
    match request {
        ClientRequest::CallToolRequest(call) => {
            Tool::named(&call.params.name).map(|tool| tool.name)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn request(id: i64, method: &str, params: Value) -> Waiting {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        Waiting { request: serde_json::from_value(message).unwrap(), bytes: 1 }
    }

    fn call(id: i64, tool: &str) -> Waiting {
        request(id, "tools/call", json!({ "name": tool, "arguments": {} }))
    }

    fn emptied(mut queue: Queue) -> Vec<i64> {
        let ids = std::iter::from_fn(|| queue.pop()).map(|next| next.request.id.to_string());
        ids.map(|id| id.parse().unwrap()).collect()
    }

    #[test]
    fn many_calls_of_one_tool_keep_no_other_waiting() {
        let mut queue = Queue::default();
        (0..1_000).for_each(|id| queue.push(call(id, "search")));
        queue.push(request(1_000, "ping", json!({})));
        queue.push(call(1_001, "remember"));
        queue.push(call(1_002, "no such tool"));
        queue.push(call(1_003, "remember"));
        let served = emptied(queue);
        assert_eq!(served[..8], [0, 1_000, 1_001, 1, 1_002, 1_003, 2, 3]);
        assert_eq!((served.len(), served[1_003]), (1_004, 999));
    }

    #[test]
    fn what_is_taken_out_is_not_served() {
        let mut queue = Queue::default();
        [call(1, "search"), call(2, "timeline"), call(3, "search")]
            .into_iter()
            .for_each(|one| queue.push(one));
        assert!(queue.remove(&RequestId::Number(2)).is_some());
        assert!(queue.remove(&RequestId::Number(2)).is_none());
        assert!(queue.remove(&RequestId::Number(3)).is_some());
        assert_eq!(emptied(queue), [1]);
    }
}
