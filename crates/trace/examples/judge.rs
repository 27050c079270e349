use std::sync::atomic::AtomicBool;
use synth_cluster::policy::Estimate;
use synth_trace::judge::{Forward, Goal, Objective, Point, Windows, plain};
use synth_trace::replay::{Log, Speed};
use synth_trace::trace::{Options, Source, Trace};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    for path in &args[1..] {
        let (path, speed) = path.split_once('@').unwrap_or((path, "1"));
        let mut log = Log::read(
            &mut Trace::open(&Source::named(path.as_ref()), &Options::default())?,
            |_| (),
        )?;
        let most: usize = std::env::var("MOST")
            .ok()
            .and_then(|s| s.parse().ok())
            .unwrap_or(usize::MAX);
        log.jobs.truncate(most);
        let speed = Speed::parse(speed)?;
        let windows = Windows {
            past: 0.5,
            every: 7.0 * 86_400.0,
            speed,
        };
        println!(
            "== {path} jobs {} load {:.3} speed {speed}",
            log.jobs.len(),
            log.load() * speed.ratio()
        );
        let interrupt = AtomicBool::new(false);
        let forward = Forward::new(&log, windows, &interrupt)?;
        let now = forward.fixed(&Point::EASY, &Point::EASY, false)?.outcome;
        println!(
            "  easy: wait {:.0} slowdown {:.2} longest {:.0}",
            now.mean_wait, now.mean_bounded_slowdown, now.longest_wait
        );
        let all = if log.has_limits {
            vec![Estimate::Limit, Estimate::History, Estimate::Tree]
        } else {
            vec![Estimate::History, Estimate::Tree]
        };
        let mut best = f64::INFINITY;
        let mut line = String::new();
        for point in plain(&all) {
            let own = forward.fixed(&Point::EASY, &point, false)?.outcome;
            best = best.min(own.mean_wait);
            line += &format!(
                "   {}: {:.3} {:.3} {:.2}\n",
                point.name(),
                own.mean_wait / now.mean_wait,
                own.mean_bounded_slowdown / now.mean_bounded_slowdown,
                own.longest_wait / now.longest_wait
            );
        }
        if std::env::var("FULL").is_ok() {
            print!("{line}");
        }
        println!("  best plain {:.3}", best / now.mean_wait);
        for (name, longest) in [("free", None), ("longest 1", Some(1.0))] {
            let goal = Goal {
                objective: Objective::Wait,
                longest,
                now: Point::EASY,
            };
            let begin = std::time::Instant::now();
            let (windows, served, _) = forward.chosen(&goal, &mut |_, _| ())?;
            let own = served.outcome;
            println!(
                "  {name}: {:.3} {:.3} {:.2}  (over best {:.3}) {:.1}s",
                own.mean_wait / now.mean_wait,
                own.mean_bounded_slowdown / now.mean_bounded_slowdown,
                own.longest_wait / now.longest_wait,
                own.mean_wait / best,
                begin.elapsed().as_secs_f64()
            );
            for window in windows.iter().filter(|_| std::env::var("SHOW").is_ok()) {
                println!(
                    "     {} {:.3} {}",
                    window.choice.point.name(),
                    window.choice.ratio,
                    window.choice.keeps
                );
            }
        }
    }
    Ok(())
}
