//! JSON-RPC 2.0: answers, and the errors among them.

use serde_json::Value;
use thru_core::rpc;

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

/// The answer to a request as a message.
pub(crate) fn answer(id: &Value, answer: RpcResult) -> Vec<u8> {
    let message = match answer {
        Ok(result) => rpc::result(id, &result),
        Err(error) => rpc::error(id, error.code, &error.message),
    };
    message.to_string().into_bytes()
}
