use super::*;
use crate::trace::tests::{AZURE_COLUMNS, columns, on};

#[test]
fn replays_virtual_machine_requests_to_the_second() {
    let Some(path) = outside_log("azure-2017-6h.csv") else {
        return;
    };
    let small = [(84_148_200.0, 10_075), (83_823_750.0, 10_067)];
    let middle = [(2_808_750.0, 3925), (2_792_250.0, 3922)];
    for (capacity, [fcfs, first_fit]) in [
        ("cpu=4096,memory=8192", small),
        ("cpu=6000,memory=12000", middle),
        ("cpu=8000,memory=16000", [(0.0, 0); 2]),
    ] {
        let mut options = on(capacity);
        (options.columns, options.censored_end) = (columns(AZURE_COLUMNS), true);
        let log = log(&path, &options);
        assert_eq!(log.jobs.len(), 15_847);
        assert_eq!(log.work(), [506_597_400.0, 1_063_095_600.0]);
        for (rule, expected) in [("fcfs", fcfs), ("first-fit", first_fit)] {
            let found = under(&log, rule, Speed::ONE);
            let told = (found.total_wait, found.waited);
            assert_eq!(told, expected, "{rule} {capacity}");
        }
    }
}
