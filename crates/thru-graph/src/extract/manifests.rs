//! Packages, languages and settings, as edits of manifests and of configuration leave them.

use std::collections::BTreeMap;

use thru_core::{Entity, EntityKind, Object, Relation, Timestamp};
use thru_distil::Step;

use super::{Extractor, project};
use crate::manifest::{Form, Thing};
use crate::opening::Claim;

impl Extractor {
    pub(super) fn manifest(
        &mut self,
        step: &Step,
        path: &str,
        changes: &BTreeMap<(Thing, String), Option<String>>,
        at: Timestamp,
    ) {
        let (Some(file), Some(form)) = (self.file(path), Form::of(path)) else {
            return;
        };
        for ((thing, name), version) in changes {
            let (subject, relation, object) = match thing {
                Thing::Package => {
                    let key = format!("{}:{name}", form.ecosystem());
                    let package = Entity::new(EntityKind::Package, key).named(name.as_str());
                    (file.clone(), Relation::DependsOn, package)
                }
                Thing::Setting => {
                    let key = format!("{}#{name}", file.key);
                    let setting = Entity::new(EntityKind::ConfigKey, key).named(name.as_str());
                    (file.clone(), Relation::Sets, setting)
                }
                Thing::Toolchain => {
                    let toolchain = Entity::new(EntityKind::Toolchain, name.as_str());
                    (project(), Relation::Toolchain, toolchain)
                }
            };
            let key = [relation.as_str(), file.key.as_str(), name.as_str()];
            let scope = if *thing == Thing::Toolchain { file.key.clone() } else { String::new() };
            let claim = Claim::Value {
                subject,
                relation,
                object: version.is_some().then_some(Object::Entity(object)),
                scope,
                note: version.clone().unwrap_or_default(),
            };
            self.open(step, at, &key, claim);
        }
    }
}
