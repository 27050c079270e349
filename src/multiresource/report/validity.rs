use super::valid_report;
use crate::multiresource::artifact::Checked;

/// That a policy passed the checker: what was derived anew, what was judged for sense only, and what
/// was taken on trust.
pub fn valid(checked: &Checked, width: usize) -> String {
    let fleet = checked.workload();
    let types = fleet.types().len();
    let about = match fleet.is_one_server() {
        true => format!("about {types} types"),
        false => format!(
            "about {types} types on {} servers of {} shapes",
            fleet.servers(),
            fleet.shapes().len()
        ),
    };
    valid_report(checked, &about, width)
}
