//! A little of everything, so that the crates are really linked: each function uses a few of them
//! and checks its own result. `cargo test` runs them one by one, `cargo-debug self-test` all.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    pub name: String,
    pub version: semver::Version,
    pub limits: indexmap::IndexMap<String, u64>,
    #[serde(default)]
    pub level: Level,
}

#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Serialize,
    Deserialize,
    strum::EnumString,
    strum::Display,
    clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Level {
    #[default]
    Low,
    High,
}

#[derive(Debug, thiserror::Error, derive_more::From)]
pub enum Failure {
    #[error("not a number: {0}")]
    Number(std::num::ParseIntError),
    #[error("I/O: {0}")]
    Io(std::io::Error),
}

bitflags::bitflags! {
    #[derive(Debug, PartialEq)]
    pub struct Flags: u32 { const READ = 1; const WRITE = 2; }
}

pub fn settings() -> Settings {
    Settings {
        name: "everything".into(),
        version: semver::Version::new(1, 2, 3),
        limits: [("files".to_string(), 7), ("bytes".to_string(), 1 << 40)].into_iter().collect(),
        level: "high".parse().unwrap_or_default(),
    }
}

/// Derive macros: a value survives JSON, TOML and YAML.
pub fn formats() -> Result<()> {
    let value = settings();
    let json: Settings = serde_json::from_str(&serde_json::to_string(&value)?)?;
    let toml: Settings = toml::from_str(&toml::to_string(&value)?)?;
    let yaml: Settings = serde_yaml::from_str(&serde_yaml::to_string(&value)?)?;
    ensure!(json == value && toml == value && yaml == value);
    let mut reader = csv::Reader::from_reader("a,b\n1,2\n".as_bytes());
    let rows: Vec<BTreeMap<String, u32>> = reader.deserialize().collect::<Result<_, _>>()?;
    ensure!(rows[0]["b"] == 2);
    Ok(())
}

/// Panics unwind through this crate and std, and a backtrace finds names and lines.
pub fn unwinding() -> Result<()> {
    struct Guard<'a>(&'a parking_lot::Mutex<u32>);
    impl Drop for Guard<'_> {
        fn drop(&mut self) {
            *self.0.lock() += 1;
        }
    }
    let dropped = parking_lot::Mutex::new(0);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _guard = Guard(&dropped);
        let empty: Vec<u32> = Vec::new();
        empty[std::hint::black_box(3)]
    }));
    std::panic::set_hook(hook);
    ensure!(result.is_err() && *dropped.lock() == 1);
    let trace = std::backtrace::Backtrace::force_capture().to_string();
    ensure!(
        trace.contains("unwinding") && trace.contains("src/lib.rs:"),
        "no names or lines in the backtrace:\n{trace}"
    );
    Ok(())
}

/// Threads and thread-locals: rayon, crossbeam, dashmap.
pub fn threads() -> Result<()> {
    use rayon::prelude::*;
    let sum: u64 = (0..100_000u64).into_par_iter().filter(|n| n % 3 == 0).sum();
    ensure!(sum == (0..100_000u64).filter(|n| n % 3 == 0).sum::<u64>());
    let map = dashmap::DashMap::new();
    crossbeam::scope(|scope| {
        for i in 0..4 {
            let map = &map;
            scope.spawn(move |_| map.insert(i, i * i));
        }
    })
    .map_err(|_| anyhow::anyhow!("a thread panicked"))?;
    ensure!(map.len() == 4);
    Ok(())
}

#[async_trait::async_trait]
trait Service: Send + Sync {
    async fn answer(&self, question: u32) -> u32;
}

struct Doubler;

#[async_trait::async_trait]
impl Service for Doubler {
    async fn answer(&self, question: u32) -> u32 {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        question * 2
    }
}

/// A web server and its client in one process, over a real socket.
pub fn network() -> Result<()> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(async {
        let service: Arc<dyn Service> = Arc::new(Doubler);
        let app = axum::Router::new().route(
            "/double/{n}",
            axum::routing::get(move |axum::extract::Path(n): axum::extract::Path<u32>| {
                let service = service.clone();
                async move { axum::Json(serde_json::json!({ "answer": service.answer(n).await })) }
            }),
        );
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let server = tokio::spawn(async move { axum::serve(listener, app).await });
        let client = reqwest::Client::builder().no_proxy().build()?;
        let url = url::Url::parse(&format!("http://{address}/double/21"))?;
        let reply: serde_json::Value = client.get(url).send().await?.json().await?;
        server.abort();
        ensure!(reply["answer"] == 42, "the server said {reply}");
        let joined = futures::future::join_all((0..8).map(|n| async move { Doubler.answer(n).await })).await;
        ensure!(joined.iter().sum::<u32>() == 56);
        Ok(())
    })
}

/// C and assembly inside crates (ring), hashes, compression, encodings.
pub fn bytes() -> Result<()> {
    use base64::Engine;
    use sha2::Digest;
    use std::io::{Read, Write};
    let ours = sha2::Sha256::digest(b"weld");
    let theirs = ring::digest::digest(&ring::digest::SHA256, b"weld");
    ensure!(ours.as_slice() == theirs.as_ref());
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&[7; 10_000])?;
    let packed = encoder.finish()?;
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut plain)?;
    ensure!(plain == [7; 10_000] && packed.len() < 100);
    let text = base64::engine::general_purpose::STANDARD.encode(ours);
    ensure!(base64::engine::general_purpose::STANDARD.decode(text)? == ours.as_slice());
    ensure!(Flags::READ | Flags::WRITE == Flags::from_bits_retain(3));
    Ok(())
}

/// Text: regular expressions, parsers, templates, Markdown, diffs, Rust itself.
pub fn text() -> Result<()> {
    use itertools::Itertools;
    let found = regex::Regex::new(r"(?P<key>\w+)=(?P<value>\d+)")?;
    let pairs = found.captures_iter("a=1 b=22 c=x").map(|c| c["key"].to_string() + &c["value"]).join(",");
    ensure!(pairs == "a1,b22");
    let mut parse = nom::sequence::separated_pair(
        nom::character::complete::u32::<&str, nom::error::Error<&str>>,
        nom::bytes::complete::tag("x"),
        nom::character::complete::u32,
    );
    let (_, size) = nom::Parser::parse(&mut parse, "3x4").map_err(|e| anyhow::anyhow!("{e}"))?;
    ensure!(size == (3, 4));
    let page = handlebars::Handlebars::new().render_template("{{name}} {{version}}", &settings())?;
    ensure!(page == "everything 1.2.3");
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, pulldown_cmark::Parser::new("# title"));
    ensure!(html.contains("<h1>title</h1>"));
    let diff = similar::TextDiff::from_lines("a\nb\n", "a\nc\n");
    ensure!(diff.iter_all_changes().filter(|c| c.tag() != similar::ChangeTag::Equal).count() == 2);
    let file = syn::parse_file("fn f(x: u32) -> u32 { x + 1 }")?;
    ensure!(file.items.len() == 1 && format!("{file:?}").contains("u32"));
    Ok(())
}

/// Files, globs, graphs, times, a drawn terminal, logs.
pub fn the_rest() -> Result<()> {
    let directory = tempfile::tempdir()?;
    std::fs::write(directory.path().join("one.txt"), "one")?;
    ensure!(walkdir::WalkDir::new(&directory).into_iter().filter_map(Result::ok).count() == 2);
    ensure!(ignore::WalkBuilder::new(&directory).build().count() == 2);
    ensure!(globset::Glob::new("*.txt")?.compile_matcher().is_match("one.txt"));
    let graph = petgraph::graph::DiGraph::<(), ()>::from_edges([(0, 1), (1, 2), (0, 2)]);
    ensure!(petgraph::algo::toposort(&graph, None).is_ok_and(|order| order.len() == 3));
    let day = chrono::NaiveDate::from_ymd_opt(2024, 2, 29).context("a leap day")?;
    ensure!(day.succ_opt().context("a day after")?.to_string() == "2024-03-01");
    ensure!(uuid::Uuid::new_v4() != uuid::Uuid::new_v4() && rand::random_range(3..4) == 3);
    let small: smallvec::SmallVec<[u8; 4]> = bytes::Bytes::from_static(b"abc").iter().copied().collect();
    ensure!(!small.spilled());
    let mut terminal = ratatui::Terminal::new(ratatui::backend::TestBackend::new(10, 2))?;
    terminal.draw(|frame| frame.render_widget("drawn", frame.area()))?;
    ensure!(format!("{:?}", terminal.backend().buffer()).contains("drawn"));
    let log = tracing_subscriber::fmt().json().with_env_filter("warn").with_writer(std::io::sink).finish();
    tracing::subscriber::with_default(log, || tracing::warn!(answer = 42, "logged"));
    let wrong = "x".parse::<u32>().map_err(Failure::from);
    ensure!(wrong.is_err_and(|e| e.to_string().starts_with("not a number")));
    Ok(())
}

/// All of them, by name.
pub const CHECKS: [(&str, fn() -> Result<()>); 7] = [
    ("formats", formats),
    ("unwinding", unwinding),
    ("threads", threads),
    ("network", network),
    ("bytes", bytes),
    ("text", text),
    ("the rest", the_rest),
];
