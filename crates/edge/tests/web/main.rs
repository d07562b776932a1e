//! Sites: protocols, names, answers, and replies withheld on purpose. Not for: bodies of requests,
//! whose test measures the whole process (`request_bodies`).
#![allow(clippy::unwrap_used)]

mod http3;
mod origins;
mod pages;
mod protocols;
mod responses;
#[path = "../support/mod.rs"]
mod support;
mod unanswered;
