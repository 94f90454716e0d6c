//! The process in the background: it waits for news, and answers on a local socket.
//!
//! It must not know what its work is (who starts it says that), hold anything that is not on the disk
//! as well, or be needed by anybody.
