use super::Table;
use crate::multiresource::simulator::Contender;

/// The rules that have a name, with what each does.
pub fn rules(width: usize) -> String {
    let mut table = Table::new(["rule", "what it does"]).words(1).wrapping(1);
    for rule in Contender::rules() {
        let name = match &rule.parameter {
            Some(parameter) if !parameter.default.is_nan() => {
                format!("{}:{}", rule.name, parameter.default)
            }
            _ => rule.name.into(),
        };
        let also = match rule.aliases {
            [] => String::new(),
            aliases => format!(" (also {})", aliases.join(", ")),
        };
        let meaning = rule.parameter.as_ref().map_or(String::new(), |p| {
            format!("; the number is {}, from {} to {}", p.what, p.least, p.most)
        });
        table.row([name, format!("{}{meaning}{also}", rule.about)]);
    }
    table.within(width)
}
