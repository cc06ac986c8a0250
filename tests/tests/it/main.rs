//! Whole programs against each other, started as processes, with every way to go wrong that we could think of.
//!
//! Killing any party at any moment must end in a clear error on the other side in bounded time, and leave no
//! process behind.

#![cfg(target_os = "linux")]

mod action;
mod agent_login;
mod agents_command;
mod agents_that_fail;
mod agents_versions;
mod arguments;
mod authorization;
mod binaries;
mod call_at_terminal;
mod call_tasks;
mod call_words;
mod chain;
mod chat;
mod chat_at_terminal;
mod chat_commands;
mod chat_costs;
mod chat_display;
mod chat_input;
mod chat_questions;
mod chat_rules;
mod chat_v2;
mod check_hostile;
mod check_programs;
mod check_reports;
mod clients_that_fail;
mod collector;
mod command_line;
mod config_files;
mod conformance_table;
mod conversation;
mod emulator;
mod error_chains;
mod error_hints;
mod family;
mod forgotten_session;
mod guides;
mod kept;
mod killed;
mod long_lines;
mod manual;
mod mcp_commands;
mod mcp_questions;
mod model;
mod network;
mod openai_agent;
mod operations;
mod peak_memory;
mod permission_menu;
mod picture;
mod plain;
mod probes;
mod program;
mod proxy;
mod questions;
mod recording;
mod recordings_of_others;
mod repair;
mod rows;
mod server_at_terminal;
mod servers_that_fail;
mod shared_sessions;
mod strict_terminal;
mod telemetry;
mod terminal;
mod tracing_file;
mod unattended;
mod wire;
