//! These tests check in a real browser that no text is cut off on phones and desktop screens, in
//! the light and the dark color scheme, and that all content can be reached with the keyboard.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::common::*;
use serde_json::{Value, json};

/// If this variable is set, the test fails if there is no browser.
const NEEDED: &str = "SYNTH_NEEDS_BROWSER";

const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

const PROBE: &str = r#"<!doctype html><title>probe</title><body><script>
const page = PAGE;
for (const width of [400, 1400]) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:900px;border:0`;
  frame.srcdoc = page;
  frame.onload = () => {
    const own = frame.contentDocument, all = (what) => [...own.querySelectorAll(what)];
    const right = (one) => one.getBoundingClientRect().right;
    const found = {
      width,
      scroll: own.scrollingElement.scrollWidth,
      cut: all("h1,h2,h3,p,li,figure,svg,dd,pre,.wide").filter((one) => right(one) > width + 1 && !one.closest(".skip")).length,
      clipped: all("main *:not(svg *)").filter((one) => one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1 && !one.matches(".wide,pre")).length,
      labels: all("main svg[role=img]").every((one) => [...one.querySelectorAll("text")].every((label) => right(label) <= right(one) + 1)),
      stays: all(".wide").every((one) => { one.scrollLeft = 9999; return one.querySelector("tbody th").getBoundingClientRect().left >= one.getBoundingClientRect().left; }),
      ground: getComputedStyle(own.body).backgroundColor,
      ink: getComputedStyle(own.querySelector("svg text")).fill,
      used: Math.max(...all("main svg[role=img]").map(right)),
      levels: all("h1,h2,h3").map((one) => +one.tagName[1]),
      skip: own.querySelector(own.querySelector("a").getAttribute("href")) !== null,
      reached: all(".wide,pre").every((one) => one.tabIndex === 0),
      named: all("table").every((one) => own.getElementById(one.getAttribute("aria-labelledby")).textContent) && all("svg[role=img]").every((one) => one.querySelector("title")),
    };
    const line = document.createElement("pre");
    line.className = "found";
    line.textContent = JSON.stringify(found);
    document.body.append(line);
  };
  document.body.append(frame);
}
</script>"#;

#[test]
#[ignore = "this test takes more than five seconds, so it is only run in CI"]
fn pages_are_readable_at_each_width_and_color_scheme() {
    let is_there = |name: &&&str| {
        Command::new(name)
            .arg("--version")
            .stdout(Stdio::null())
            .status()
            .is_ok()
    };
    let Some(browser) = BROWSERS.iter().find(is_there) else {
        assert!(std::env::var_os(NEEDED).is_none(), "chromium is missing");
        let _ = writeln!(
            std::io::stderr(),
            "test of pages in a browser skipped because chromium is not installed"
        );
        return;
    };
    let folder = Folder::new();
    let page = folder.path_string("page.html");
    for question in [
        "compare models/section7.yaml --policies first-fit,max-weight --loads .5,.7 --events 2e5",
        "replay models/traces/cluster.swf --policies easy,first-fit,most-servers-first",
        "judge models/traces/cluster.swf",
        "advise slurm models/traces/slurm.sacct.gz --slurm models/traces/site",
    ] {
        run_ok!("{question} --html {page}");
        let text = String::from_utf8(folder.bytes("page.html")).unwrap();
        let probe = folder.write(
            "probe.html",
            &PROBE.replace("PAGE", &json!(text).to_string()),
        );
        let [day, night] = [1, 0].map(|scheme| probe_page(browser, &probe, scheme));
        for found in day.iter().chain(&night) {
            let width = found["width"].as_f64().unwrap();
            assert!(found["scroll"].as_f64().unwrap() <= width, "{found}");
            assert_eq!(found["cut"], 0, "{found}");
            assert_eq!(found["clipped"], 0, "{found}");
            assert!(found["used"].as_f64().unwrap() > 0.9 * width, "{found}");
            for what in ["skip", "reached", "named", "labels", "stays"] {
                assert_eq!(found[what], true, "{what}: {found}");
            }
            let levels: Vec<u64> = serde_json::from_value(found["levels"].clone()).unwrap();
            let falls = levels.windows(2).all(|two| two[1] <= two[0] + 1) && levels[0] == 1;
            assert!(falls, "{levels:?}");
        }
        for what in ["ground", "ink"] {
            assert_ne!(day[0][what], night[0][what], "{what}");
        }
    }
}

/// Returns the properties of the page in the color scheme (0 is dark, and 1 is light).
fn probe_page(browser: &str, probe: &str, scheme: u8) -> Vec<Value> {
    let run = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            "--virtual-time-budget=4000",
        ])
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .args(["--dump-dom", &format!("file://{probe}")])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(!said.contains("CONSOLE"), "{said}");
    let dom = String::from_utf8_lossy(&run.stdout);
    let lines = dom.split("<pre class=\"found\">").skip(1);
    let found = lines.map(|own| serde_json::from_str(own.split_once("</pre>").unwrap().0).unwrap());
    let found: Vec<Value> = found.collect();
    assert_eq!(found.len(), 2, "{dom}");
    found
}
