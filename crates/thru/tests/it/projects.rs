//! `thru projects`.

use insta::assert_snapshot;

use crate::home::Home;
use crate::records::{Author, ONE, file};

#[test]
fn projects_are_listed_renamed_and_merged() {
    let home = Home::imported();
    let _settings = home.settings();
    assert_snapshot!(home.shown(&["projects"]), @"
    PROJECT  LAST USED  SESSIONS  PASSAGES  KEY
    rocket   [age] 2         8  dir:/home/ada/rocket
    orchard  [age] 1         3  dir:/home/ada/orchard
    ");
    assert_snapshot!(home.shown(&["projects", "rename", "orchard", "Pear trees"]), @"orchard is now called Pear trees.");
    assert_snapshot!(home.shown(&["projects", "merge", "rocket", "pear trees"]), @"rocket is now part of Pear trees.");
    assert_snapshot!(home.shown(&["projects", "list"]), @"
    PROJECT     LAST USED  SESSIONS  PASSAGES  KEY
    Pear trees  [age] 3        11  dir:/home/ada/orchard
                                               + dir:/home/ada/rocket
    ");
    assert_snapshot!(home.shown(&["projects", "--json"]), @r#"
    {
      "kind": "projects",
      "projects": [
        {
          "key": "dir:/home/ada/orchard",
          "last": "2026-03-02T09:00:00Z",
          "merged": [
            "dir:/home/ada/rocket"
          ],
          "name": "Pear trees",
          "passages": 11,
          "sessions": 3
        }
      ],
      "version": 1
    }
    "#);
    assert_snapshot!(home.shown(&["projects", "merge", "rocket", "orchard"]), @r"
    -- stderr --
    error: there is no project `rocket`.
    hint: `thru projects` lists them.
    -- exit 2 --
    ");
    assert_snapshot!(home.shown(&["projects", "rename", "pear trees", " "]), @r"
    -- stderr --
    error: a project needs a name.
    hint: give one of at least a letter.
    -- exit 2 --
    ");
    assert_snapshot!(home.shown(&["projects", "merge", "pear trees", "Pear Trees"]), @r"
    -- stderr --
    error: both names mean the project Pear trees.
    hint: `thru projects` lists keys that tell projects apart.
    -- exit 2 --
    ");
    home.thru(&["search", "lock", "--project", "pear trees"]).expect(0);
    // What people decided outlives the store.
    let before = home.thru(&["projects", "--json"]).stdout;
    home.thru(&["rebuild"]).expect(0);
    assert_eq!(home.thru(&["projects", "--json"]).stdout, before);
    std::fs::remove_file(home.data().join("memory.db")).unwrap();
    home.thru(&["import"]).expect(0);
    assert_eq!(home.thru(&["projects", "--json"]).stdout, before);
}

#[test]
fn a_project_merged_into_one_that_is_merged_on_is_not_lost() {
    let home = Home::imported();
    let third = "55555555-eeee-4eee-8eee-000000000005";
    home.write(
        &file(third),
        Author::of(third).in_directory("/home/ada/garden").asks("Where do the tulips go?").text(),
    );
    home.thru(&["import"]).expect(0);
    home.thru(&["projects", "merge", "garden", "orchard"]).expect(0);
    home.thru(&["projects", "merge", "orchard", "rocket"]).expect(0);
    let projects = home.json(&["projects", "--json"]);
    assert_eq!(projects["projects"].as_array().unwrap().len(), 1, "{projects}");
    assert_eq!(projects["projects"][0]["sessions"], 4, "{projects}");
    home.thru(&["search", "tulips", "--project", "rocket"]).expect(0);
    home.thru(&["search", "tulips", "--project", "dir:/home/ada/garden"]).expect(0);
    let before = home.thru(&["projects", "--json"]).stdout;
    home.thru(&["rebuild"]).expect(0);
    assert_eq!(home.thru(&["projects", "--json"]).stdout, before);
}

#[test]
fn two_projects_of_one_name_are_told_apart_by_their_keys() {
    let home = Home::imported();
    let _settings = home.settings();
    home.write(
        &file(ONE).replace('1', "6"),
        Author::of(&ONE.replace('1', "6")).in_directory("/srv/rocket").asks("Who?").text(),
    );
    home.thru(&["import"]).expect(0);
    assert_snapshot!(home.shown(&["search", "x", "--project", "rocket"]), @r"
    -- stderr --
    error: 2 projects are called `rocket`.
    hint: name one by its key: dir:/home/ada/rocket, dir:/srv/rocket.
    -- exit 2 --
    ");
    home.thru(&["search", "who", "--project", "dir:/srv/rocket"]).expect(0);
}

#[test]
fn what_is_remembered_names_the_project_as_it_is_called_now() {
    let home = Home::new();
    let project = |text: &str| {
        let ran = home.thru(&["remember", text, "--json"]).expect(0);
        let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        told["project"].as_str().unwrap().to_owned()
    };
    let name = project("Prime the pump");
    home.thru(&["projects", "rename", &name, "Shed"]).expect(0);
    assert_eq!(project("Oil the valve"), "Shed");
}
