//! JSON-RPC 2.0: what a message asks for, and what is answered.

use serde_json::{Value, json};

/// A request, whoever sent it.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What the answer is to be marked with. Without, no answer is wanted.
    pub id: Option<Value>,
    /// What is asked for.
    pub method: String,
    /// With what.
    pub params: Value,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RpcError {
    /// As JSON-RPC numbers them.
    pub code: i64,
    /// In words.
    pub message: String,
}

impl RpcError {
    /// The message is no JSON.
    pub const NO_JSON: i64 = -32_700;
    /// The message is no request.
    pub const NO_REQUEST: i64 = -32_600;
    /// There is no such method.
    pub const NO_METHOD: i64 = -32_601;
    /// The parameters are not what the method takes.
    pub const PARAMS: i64 = -32_602;
    /// Something went wrong here.
    pub const INTERNAL: i64 = -32_603;
    /// The settings do not allow it.
    pub const REFUSED: i64 = -32_001;
    /// What was waited for did not come.
    pub const TIMEOUT: i64 = -32_002;

    /// An error with this number.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// What is answered to a request.
pub type Answer = Result<Value, RpcError>;

/// Reads a request.
pub fn parse(message: &[u8]) -> Result<Request, (Value, RpcError)> {
    let no_json = |error: serde_json::Error| {
        (Value::Null, RpcError::new(RpcError::NO_JSON, format!("the message is no JSON: {error}")))
    };
    let value: Value = serde_json::from_slice(message).map_err(no_json)?;
    let refuse = |id: Value, why: &str| Err((id, RpcError::new(RpcError::NO_REQUEST, why)));
    let Value::Object(mut fields) = value else {
        return refuse(Value::Null, "a request is a JSON object");
    };
    let id = match fields.remove("id") {
        Some(id @ (Value::String(_) | Value::Number(_) | Value::Null)) => Some(id),
        Some(_) => return refuse(Value::Null, "an id is a text or a number"),
        None => None,
    };
    let for_answer = || id.clone().unwrap_or(Value::Null);
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return refuse(for_answer(), "only JSON-RPC 2.0 is spoken here");
    }
    let Some(Value::String(method)) = fields.remove("method") else {
        return refuse(for_answer(), "a request names its method");
    };
    let params = match fields.remove("params") {
        None | Some(Value::Null) => json!({}),
        Some(params @ (Value::Object(_) | Value::Array(_))) => params,
        Some(_) => return refuse(for_answer(), "parameters are an object"),
    };
    Ok(Request { id, method, params })
}

/// The message that answers a request.
pub(crate) fn answer(id: &Value, answer: Answer) -> Vec<u8> {
    let message = match answer {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(error) => {
            let error = json!({ "code": error.code, "message": error.message });
            json!({ "jsonrpc": "2.0", "id": id, "error": error })
        }
    };
    message.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn requests_are_read() {
        let request = parse(br#"{"jsonrpc":"2.0","id":"a","method":"hello"}"#).unwrap();
        assert_eq!(request.id, Some(json!("a")));
        assert_eq!((request.method.as_str(), request.params), ("hello", json!({})));
        let told = parse(br#"{"jsonrpc":"2.0","method":"wake","params":{"wait":true}}"#).unwrap();
        assert_eq!((told.id, told.params), (None, json!({ "wait": true })));
    }

    #[test]
    fn what_is_no_request_is_refused_with_the_number_for_it() {
        let rows: [(&str, i64); 8] = [
            ("{", RpcError::NO_JSON),
            ("\u{0}", RpcError::NO_JSON),
            ("[]", RpcError::NO_REQUEST),
            (r#"{"id":1,"method":"hello"}"#, RpcError::NO_REQUEST),
            (r#"{"jsonrpc":"1.0","id":1,"method":"hello"}"#, RpcError::NO_REQUEST),
            (r#"{"jsonrpc":"2.0","id":[],"method":"hello"}"#, RpcError::NO_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, RpcError::NO_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":3}"#, RpcError::NO_REQUEST),
        ];
        for (message, code) in rows {
            assert_eq!(parse(message.as_bytes()).unwrap_err().1.code, code, "{message}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_sent_the_answer_is_json(message: Vec<u8>) {
            if let Err((id, error)) = parse(&message) {
                serde_json::from_slice::<Value>(&answer(&id, Err(error))).unwrap();
            }
        }
    }
}
