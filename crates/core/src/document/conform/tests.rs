#![allow(clippy::unwrap_used)]
use serde::Deserialize;

use crate::document::{Document, Pairs};
use crate::number::Decimal;

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct House {
    owner: String,
    rooms: Vec<Room>,
    #[serde(default)]
    taxes: Pairs,
    #[serde(default)]
    heating: Option<Heating>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Heating {
    /// No heating.
    Cold,
    /// An oven of this power.
    Oven(Decimal),
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
enum Room {
    Hall { area: Decimal, doors: u32 },
    Garden { sides: Option<Vec<Decimal>> },
}

use super::*;

fn read(text: &str) -> (Option<House>, Vec<String>) {
    let document = Document::parse(text, "t.yaml", "as you like").unwrap();
    let (house, faults) = document.read();
    (house, faults.iter().map(ToString::to_string).collect())
}

#[test]
fn reads_a_document_as_its_type() {
    let (house, faults) = read(
        "taxes: {water: 1e-3, air: 2}\nowner: 007\nrooms:\n- {doors: 2.0, kind: hall, area: .5}\n- kind: garden\n  sides:\n",
    );
    let decimal = |x| Decimal::new(x);
    assert_eq!(faults, Vec::<String>::new());
    let hall = Room::Hall {
        area: decimal(0.5).unwrap(),
        doors: 2,
    };
    let taxes = [("water", 1e-3), ("air", 2.0)];
    let expected = House {
        owner: "007".into(),
        rooms: vec![hall, Room::Garden { sides: None }],
        taxes: Pairs(taxes.map(|(name, x)| (name.into(), decimal(x))).into()),
        heating: None,
    };
    assert_eq!(house, Some(expected));
}

#[test]
fn a_variant_may_be_a_word_or_a_map_of_one_key() {
    let heated = |with: &str| read(&format!("owner: a\nrooms: []\nheating: {with}\n"));
    let power = Decimal::parse("2").unwrap();
    for (text, heating) in [("cold", Heating::Cold), ("{oven: 2}", Heating::Oven(power))] {
        assert_eq!(heated(text).0.unwrap().heating, Some(heating), "{text}");
    }
    let help = "(help: write one of `cold`, `oven: …`)";
    for (text, start) in [
        ("warm", "heating is `warm`, which is not"),
        ("oven", "heating is `oven`, which is not"),
        ("{cold: 1}", "heating is `cold`, which is not"),
        ("[cold]", "expected one word, or a map of one key, here"),
    ] {
        let (_, faults) = heated(text);
        assert!(faults[0].contains(start), "{faults:?}");
        assert!(faults[0].contains(help), "{faults:?}");
    }
    let (_, faults) = heated("{oven: hot}");
    assert!(faults[0].starts_with("heating.oven: "), "{faults:?}");
}

#[test]
fn finds_every_fault_and_replaces_faulty_values_by_null() {
    let (house, faults) =
        read("owner: a\nrooms: [{kind: garden, sides: [x, 1]}]\ntaxes: {air: x}\n");
    assert_eq!(faults.len(), 2, "{faults:?}");
    let house = house.unwrap();
    assert_eq!(house.rooms, [Room::Garden { sides: None }]);
    assert_eq!(house.taxes, Pairs(vec![("air".into(), None)]));

    let (house, faults) = read(
        "ownr: a\nrooms:\n- {kind: hall, area: [1], doors: -1}\n- {kind: hut}\n- {kind: hall, dors: 1}\n- {area: 1}\n- 3\n",
    );
    assert_eq!(house, None, "three rooms have faults");
    let starts = [
        "ownr: unknown key `ownr` (help: did you mean `owner`?)",
        "rooms[0].area: expected a single value here",
        "rooms[0].doors: rooms[0].doors is -1, expected a whole number ≥ 0",
        "rooms[1].kind: unknown kind `hut` (help: expected one of: `hall`, `garden`)",
        "rooms[2].dors: unknown key `dors` of the kind `hall` (help: did you mean `doors`?)",
        "rooms[2]: the kind `hall` needs `area` (help: write it like this: `{kind: hall, area: …, doors: …}`)",
        "rooms[3]: rooms[3] has no kind",
        "rooms[4]: expected a map here",
    ];
    assert_eq!(faults.len(), starts.len(), "{faults:#?}");
    for (fault, start) in faults.iter().zip(starts) {
        assert!(fault.starts_with(start), "{fault}");
    }
}

#[test]
fn reads_a_misnamed_key_as_the_intended_one() {
    let (house, faults) =
        read("ownr: a\nrooms: [{kind: hall, area: 1, door: 2}]\nheatin: [1]\nowners: b\n");
    let starts = [
        "ownr: unknown key `ownr` (help: did you mean `owner`?)",
        "rooms[0].door: unknown key `door` of the kind `hall` (help: did you mean `doors`?)",
        "heatin: unknown key `heatin` (help: did you mean `heating`?)",
        "owners: unknown key `owners` (help: did you mean `owner`?)",
    ];
    assert_eq!(faults.len(), starts.len(), "{faults:#?}");
    for (fault, start) in faults.iter().zip(starts) {
        assert!(fault.starts_with(start), "{fault}");
    }
    let house = house.unwrap();
    assert_eq!(house.owner, "a");
    assert_eq!(house.heating, None, "its value is of another form");
    let area = Decimal::ONE;
    assert_eq!(house.rooms, [Room::Hall { area, doors: 2 }]);
}
