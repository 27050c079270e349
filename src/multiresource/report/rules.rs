use super::Table;
use crate::multiresource::simulator::Contender;
use crate::simulation::sweep::Knows;

/// The rules that have a name, with what each does, may and knows.
pub fn rules(width: usize) -> String {
    let header = ["rule", "preempts", "knows", "what it does"];
    let mut table = Table::new(header).words(1).words(2).words(3).wrapping(3);
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
        let preempts = if rule.preempts { "yes" } else { "" };
        let knows = match rule.knows {
            Knows::Means => "",
            Knows::Estimates => "estimates",
            Knows::Sizes if rule.parameter.is_some() => "sizes; estimates above 1",
            Knows::Sizes => "sizes",
        };
        table.row([
            name,
            preempts.into(),
            knows.into(),
            format!("{}{meaning}{also}", rule.about),
        ]);
    }
    table.within(width)
}
