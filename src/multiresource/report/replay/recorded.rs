use super::super::{Table, number, start_latency_of, within, wrap};
use crate::multiresource::verbs::replay::{Drawn, OfJobs, Recorded};

/// What came of recorded jobs, at most `width` characters wide.
pub fn recorded(run: &Recorded, width: usize) -> String {
    let mut table = Table::new([
        "type",
        "jobs",
        "mean response",
        "mean wait",
        "median wait",
        "longest wait",
    ]);
    let row = |name: &str, own: &OfJobs| {
        let figures = [
            own.mean_response,
            own.mean_wait,
            own.median_wait,
            own.longest_wait,
        ];
        let head = [name.to_owned(), own.jobs.to_string()].into_iter();
        head.chain(figures.map(told)).collect::<Vec<_>>()
    };
    for own in &run.types {
        table.row(row(&own.name, &own.jobs));
    }
    table.row(row("all", &run.all));
    let unit = &run.time_unit;
    let drawn = match run.draws {
        1 => "nothing is drawn at random".to_owned(),
        draws => format!(
            "± one standard deviation over {draws} draws, seed {}",
            run.seed
        ),
    };
    let foot = format!(
        "times in {unit}; the last job left {} {unit} after the first came; {drawn}",
        told(run.makespan)
    );
    let mut text = format!(
        "{} on {}, run once\n\n{}\n\n{}",
        run.policy,
        run.file,
        table.within(width),
        wrap(&foot, width)
    );
    if let Some(law) = &run.start_latency {
        text += "\n";
        text += &wrap(&start_latency_of(law, unit), width);
    }
    text
}

fn told(drawn: Drawn) -> String {
    match drawn.deviation {
        Some(deviation) => within(drawn.mean, deviation),
        None => number(drawn.mean),
    }
}
