//! The envelopes of JSON-RPC 2.0, as the daemon, the MCP server and deliveries read and write them.

use serde_json::{Value, json};

/// The number of an error, as JSON-RPC and those who build on it give them.
pub type Code = i64;

/// The message is no JSON.
pub const NO_JSON: Code = -32_700;
/// The message is no request.
pub const NO_REQUEST: Code = -32_600;
/// There is no such method.
pub const NO_METHOD: Code = -32_601;
/// The parameters are not those of the method.
pub const BAD_PARAMS: Code = -32_602;
/// The request failed inside of the server.
pub const INTERNAL: Code = -32_603;

/// A request, or a notification.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The id for the answer. One without an id gets no answer.
    pub id: Option<Value>,
    /// The method.
    pub method: String,
    /// The parameters, by name or in order.
    pub params: Option<Value>,
}

/// A message that is none of these, and the answer to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The id for the answer.
    pub id: Value,
    /// The number of the error.
    pub code: Code,
    /// The reason.
    pub why: String,
    /// True if no answer is wanted: it is one itself, or a notification.
    pub is_unanswered: bool,
}

/// Reads a message.
///
/// # Errors
/// Returns what to answer if it is neither a request nor a notification.
pub fn read(message: &[u8]) -> Result<Message, Unread> {
    let refused = |id: &Value, code: Code, why: String| {
        let id = if id.is_string() || id.is_number() { id.clone() } else { Value::Null };
        Unread { id, code, why, is_unanswered: false }
    };
    let no_json =
        |error| refused(&Value::Null, NO_JSON, format!("the message is not JSON: {error}"));
    let mut fields = match serde_json::from_slice(message).map_err(no_json)? {
        Value::Object(fields) => fields,
        Value::Array(_) => {
            let why = "batches are not supported: send each message by itself";
            return Err(refused(&Value::Null, NO_REQUEST, why.to_owned()));
        }
        _ => {
            let why = "a message is a JSON object".to_owned();
            return Err(refused(&Value::Null, NO_REQUEST, why));
        }
    };
    let id = fields.remove("id");
    let refuse =
        |why: &str| refused(id.as_ref().unwrap_or(&Value::Null), NO_REQUEST, why.to_owned());
    let is_answer = fields.contains_key("result") || fields.contains_key("error");
    let method = match fields.remove("method") {
        Some(Value::String(method)) => method,
        Some(_) => {
            return Err(Unread { is_unanswered: id.is_none(), ..refuse("a method is a text") });
        }
        None => {
            return Err(Unread {
                is_unanswered: is_answer,
                ..refuse("a request names its method")
            });
        }
    };
    if id.as_ref().is_some_and(|id| !(id.is_string() || id.is_i64() || id.is_u64())) {
        return Err(refuse("an id is a text or a whole number"));
    }
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(refuse("only JSON-RPC 2.0 is supported"));
    }
    let params = fields.remove("params").filter(|params| !params.is_null());
    if params.as_ref().is_some_and(|params| !(params.is_object() || params.is_array())) {
        return Err(refuse("parameters are an object or a list"));
    }
    Ok(Message { id, method, params })
}

/// Returns a request.
pub fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// Returns a request that wants no answer.
pub fn notification(method: &str) -> Value {
    json!({ "jsonrpc": "2.0", "method": method })
}

/// Returns the answer to a request that succeeded.
pub fn result(id: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// Returns the answer to a request that failed.
pub fn error(id: &Value, code: Code, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

/// Takes the result out of an answer, or the code and the message of its error. `None` if it is no answer.
pub fn outcome(answer: &mut Value) -> Option<Result<Value, (Code, String)>> {
    if let Some(error) = answer.get("error").filter(|error| !error.is_null()) {
        let message = error["message"].as_str().unwrap_or("it refused").to_owned();
        return Some(Err((error["code"].as_i64().unwrap_or_default(), message)));
    }
    answer.get_mut("result").map(|result| Ok(result.take()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn requests_are_read_as_they_are_written() {
        let written = request(7, "hello", &json!({ "a": 1 })).to_string();
        let wanted = Message {
            id: Some(json!(7)),
            method: "hello".to_owned(),
            params: Some(json!({ "a": 1 })),
        };
        assert_eq!(read(written.as_bytes()), Ok(wanted));
        let told = notification("initialized").to_string();
        let wanted = Message { id: None, method: "initialized".to_owned(), params: None };
        assert_eq!(read(told.as_bytes()), Ok(wanted));
    }

    #[test]
    fn what_is_no_request_is_refused_with_the_number_for_it() {
        let deep = "[".repeat(100_000);
        for (message, id, code) in [
            ("{", Value::Null, NO_JSON),
            ("\u{0}", Value::Null, NO_JSON),
            (&*deep, Value::Null, NO_JSON),
            ("[]", Value::Null, NO_REQUEST),
            ("7", Value::Null, NO_REQUEST),
            ("{}", Value::Null, NO_REQUEST),
            (r#"{"id":1,"method":"hello"}"#, json!(1), NO_REQUEST),
            (r#"{"jsonrpc":"1.0","id":1,"method":"hello"}"#, json!(1), NO_REQUEST),
            (r#"{"jsonrpc":"2.0","id":[],"method":"hello"}"#, Value::Null, NO_REQUEST),
            (r#"{"jsonrpc":"2.0","id":null,"method":"hello"}"#, Value::Null, NO_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"hello"}"#, json!(1.5), NO_REQUEST),
            (r#"{"jsonrpc":"2.0","id":"a","method":7}"#, json!("a"), NO_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":3}"#, json!(1), NO_REQUEST),
        ] {
            let unread = read(message.as_bytes()).unwrap_err();
            assert_eq!(
                (unread.id, unread.code, unread.is_unanswered),
                (id, code, false),
                "{}",
                unread.why
            );
        }
        for message in
            [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, r#"{"jsonrpc":"2.0","method":7}"#]
        {
            assert!(read(message.as_bytes()).unwrap_err().is_unanswered, "{message}");
        }
    }

    #[test]
    fn answers_are_read_as_they_are_written() {
        let mut written = result(&json!(1), &json!({ "a": 1 }));
        assert_eq!(outcome(&mut written), Some(Ok(json!({ "a": 1 }))));
        let mut written = error(&json!("b"), NO_METHOD, "no such method");
        assert_eq!(outcome(&mut written), Some(Err((NO_METHOD, "no such method".to_owned()))));
        assert_eq!(outcome(&mut request(1, "ping", &json!({}))), None);
        assert_eq!(outcome(&mut notification("initialized")), None);
    }

    proptest! {
        #[test]
        fn whatever_is_sent_is_read_or_refused(message: Vec<u8>) {
            if let Err(unread) = read(&message) {
                prop_assert!(!unread.why.is_empty());
            }
        }
    }
}
