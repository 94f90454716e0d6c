//! JSON-RPC 2.0: requests and answers.

use serde_json::{Value, json};
use thru_core::rpc;

/// A request from any client.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The id for the answer. A request without one gets no answer.
    pub id: Option<Value>,
    /// The method.
    pub method: String,
    /// The parameters.
    pub params: Value,
}

/// The error of a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct RpcError {
    /// The JSON-RPC error code.
    pub code: i64,
    /// The message.
    pub message: String,
}

impl RpcError {
    /// The message is not JSON.
    pub const NO_JSON: i64 = rpc::NO_JSON;
    /// The message is not a request.
    pub const NO_REQUEST: i64 = rpc::NO_REQUEST;
    /// The method does not exist.
    pub const NO_METHOD: i64 = rpc::NO_METHOD;
    /// The parameters do not fit the method.
    pub const PARAMS: i64 = rpc::BAD_PARAMS;
    /// An internal error.
    pub const INTERNAL: i64 = rpc::INTERNAL;
    /// Refused by the settings.
    pub const REFUSED: i64 = -32_001;
    /// The wait timed out.
    pub const TIMEOUT: i64 = -32_002;

    /// Returns an error with this code.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// The answer to a request.
pub type RpcResult = Result<Value, RpcError>;

/// Parses a request.
///
/// # Errors
/// Returns the error to answer with, and the id for that answer, if the message is not a valid request.
pub fn parse(message: &[u8]) -> Result<Request, (Value, RpcError)> {
    let no_json = |error: serde_json::Error| {
        (Value::Null, RpcError::new(RpcError::NO_JSON, format!("the message is not JSON: {error}")))
    };
    let value: Value = serde_json::from_slice(message).map_err(no_json)?;
    let refuse = |id: Value, why: &str| Err((id, RpcError::new(RpcError::NO_REQUEST, why)));
    let Value::Object(mut fields) = value else {
        return refuse(Value::Null, "a request is a JSON object");
    };
    let id = match fields.remove("id") {
        Some(id @ (Value::String(_) | Value::Number(_) | Value::Null)) => Some(id),
        Some(_) => return refuse(Value::Null, "an id must be a string or a number"),
        None => None,
    };
    let for_answer = || id.clone().unwrap_or(Value::Null);
    if !rpc::is_versioned(&fields) {
        return refuse(for_answer(), "only JSON-RPC 2.0 is supported");
    }
    let Some(Value::String(method)) = fields.remove("method") else {
        return refuse(for_answer(), "a request needs a method");
    };
    let params = match fields.remove("params") {
        None | Some(Value::Null) => json!({}),
        Some(params @ (Value::Object(_) | Value::Array(_))) => params,
        Some(_) => return refuse(for_answer(), "parameters must be an object"),
    };
    Ok(Request { id, method, params })
}

/// The answer to a request as a message.
pub(crate) fn answer(id: &Value, answer: RpcResult) -> Vec<u8> {
    let message = match answer {
        Ok(result) => rpc::result(id, &result),
        Err(error) => rpc::error(id, error.code, &error.message),
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
