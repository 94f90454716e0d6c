//! The envelopes of JSON-RPC 2.0, as the daemon, the MCP server and deliveries write them.

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

/// Returns true if a message says that it is of this version.
pub fn is_versioned(message: &serde_json::Map<String, Value>) -> bool {
    message.get("jsonrpc").and_then(Value::as_str) == Some("2.0")
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
    use super::*;

    #[test]
    fn answers_are_read_as_they_are_written() {
        let mut written = result(&json!(1), &json!({ "a": 1 }));
        assert!(is_versioned(written.as_object().unwrap()));
        assert_eq!(outcome(&mut written), Some(Ok(json!({ "a": 1 }))));
        let mut written = error(&json!("b"), NO_METHOD, "no such method");
        assert_eq!(outcome(&mut written), Some(Err((NO_METHOD, "no such method".to_owned()))));
        assert_eq!(outcome(&mut request(1, "ping", &json!({}))), None);
        assert_eq!(outcome(&mut notification("initialized")), None);
    }
}
