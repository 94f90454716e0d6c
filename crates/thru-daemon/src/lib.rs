//! The background process: it waits for news, has the work ingest them, and answers on a local socket.
//!
//! [`run()`] is the daemon itself; [`ensure()`] makes sure that one runs, [`poke`] tells it that there is
//! news, [`Client`] calls it. The caller supplies its work ([`Work`], [`Service`]). Threads only: one owns
//! the work, one accepts connections, a few answer them, one syncs, one gives memory back.
//!
//! It must not know the data it ingests, hold any state that is not also on disk, or be needed: hooks write
//! to the journal themselves, and every command can ingest pending data.

mod client;
mod clockwork;
mod ensure;
mod frame;
mod identity;
mod kill;
mod lock;
mod log;
mod mailbox;
mod pages;
mod paths;
mod program;
mod rpc;
mod run;
mod server;
mod service;
mod settings;
mod socket;
mod spawn;
mod syncing;
mod watch;
mod work;

pub use client::{CallError, Client};
pub use ensure::{EnsureError, Ensured, Probe, Stopped, ensure, probe, stop};
pub use frame::{Form, FrameError, LARGEST, MessageReader, write_message};
pub use identity::{Hello, Identity, PROTOCOL};
pub use kill::{Killed, kill};
pub use lock::{DaemonLock, Holder, holder, is_held};
pub use log::{Level, Log, quiet_panics};
pub use mailbox::Stopper;
pub use pages::release_pages;
pub use paths::{Paths, socket_path};
pub use program::Program;
pub use rpc::{RpcError, RpcResult};
pub use run::{End, RunError, Setup, run};
pub use service::{launchd_agent, systemd_unit};
pub use settings::Settings;
pub use socket::poke;
pub use spawn::{
    MEMORY, begin_again, detach, lacks_memory_settings, let_others_go_first, lower_thread_priority,
    spawn,
};
pub use work::{News, Outcome, Service, ToolError, Work, WorkError};
