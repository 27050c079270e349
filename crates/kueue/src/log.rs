//! Messages for whoever runs the controller: a line each, on standard error.

use serde_json::{Map, Value, json};

use crate::setup::Format;

/// Writes messages.
#[derive(Clone, Copy, Debug)]
pub struct Log(pub Format);

/// What belongs to a message, by name.
pub type Fields = Map<String, Value>;

/// Returns texts as what belongs to a message.
pub fn fields<'a>(all: impl IntoIterator<Item = (&'a str, &'a str)>) -> Fields {
    all.into_iter()
        .map(|(name, text)| (name.to_owned(), json!(text)))
        .collect()
}

impl Log {
    /// Says what was done.
    pub fn info(self, event: &str, fields: &Fields) {
        self.write("info", event, fields);
    }

    /// Says what a person should look at.
    pub fn warn(self, event: &str, fields: &Fields) {
        self.write("warn", event, fields);
    }

    /// Says what ends the program.
    pub fn error(self, event: &str, fields: &Fields) {
        self.write("error", event, fields);
    }

    fn write(self, level: &str, event: &str, fields: &Fields) {
        let time = k8s_openapi::jiff::Timestamp::now();
        match self.0 {
            Format::Json => {
                let mut line = Map::new();
                line.insert("time".into(), json!(format!("{time:.3}")));
                line.insert("level".into(), json!(level));
                line.insert("event".into(), json!(event));
                line.extend(fields.clone());
                eprintln!("{}", Value::Object(line));
            }
            Format::Text => {
                let parts = fields.iter().map(|(name, value)| match value {
                    Value::String(text) => format!(" {name}={text:?}"),
                    value => format!(" {name}={value}"),
                });
                eprintln!("{time:.3} {level} {event}{}", parts.collect::<String>());
            }
        }
    }
}
