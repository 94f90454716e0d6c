//! MCP: the memory as tools, resources and prompts for agents.
//!
//! This is the surface alone: names, schemas and descriptions; arguments as agents really write them;
//! answers as tables and prose, fenced and marked as recorded data. The work is done behind [`Memory`],
//! which is passed in. [`Server`] is independent of the transport; [`serve`] runs it on two pipes.
//!
//! *Must not* open the store, read environment or clock, let recorded text leave without its fence, or write
//! anything but the protocol to the output.

mod arguments;
mod asked;
mod config;
mod fence;
mod incoming;
mod memory;
mod pipe;
mod prompts;
mod render;
mod resources;
mod server;
mod stdio;
mod told;
mod tool;
mod uri;

pub use asked::{
    Close, Forget, Get, ListUnindexed, Place, Remember, Search, Session, SyncHistory, Timeline,
    WantedKind,
};
pub use config::{Client, NAME, UnknownClient, entry};
pub use incoming::{Incoming, LONGEST_LINE, read_line};
pub use memory::{Call, Memory, Tell, Trouble};
pub use pipe::Stopper;
pub use server::{INSTRUCTIONS, Server};
pub use stdio::serve;
pub use told::{
    Around, Command, Digest, Forgotten, Found, Outline, Passage, Piece, Project, Remembered, Row,
    SessionName, SessionTold, Turn, Whole,
};
pub use tool::{TOOLS, Tool};
