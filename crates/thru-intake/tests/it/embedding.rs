//! Vectors: made once for each text, in batches that last, and gone with what they were made from.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use thru_embed::{EmbedError, Embedder};
use thru_intake::{Coverage, Embedded, Embedding, IntakeError, Operation};
use thru_store::vectors::{ModelFolder, VectorWriter, Vectors, text_key};

use crate::machine::Machine;
use crate::records::{Author, ONE, TWO, conversation, file};

const MODEL: &str = "a-model";
const DIMENSIONS: usize = 16;
/// The bytes on disk of the vectors of texts about zebrafish.
const STRIPES: [u8; DIMENSIONS] =
    [127, 127, 129, 129, 127, 129, 127, 129, 129, 129, 127, 127, 129, 127, 127, 129];

type Meanwhile<'f> = dyn Fn(&[&str]) + Sync + 'f;

/// Returns made-up vectors, and records the texts it receives.
#[derive(Default)]
struct Fake<'f> {
    seen: Mutex<Vec<Vec<String>>>,
    /// Called with every batch before its vectors are returned.
    meanwhile: Option<&'f Meanwhile<'f>>,
    /// Texts with this word are refused.
    refuses: Option<&'static str>,
}

impl Fake<'_> {
    fn calls(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().concat()
    }
}

impl Embedder for Fake<'_> {
    fn model(&self) -> &str {
        MODEL
    }

    fn dimensions(&self) -> Option<usize> {
        None
    }

    fn embed(&self, texts: &[&str], stop: &AtomicBool) -> Result<Vec<Vec<f32>>, EmbedError> {
        if stop.load(Ordering::Relaxed) {
            return Err(EmbedError::Stopped);
        }
        if self.refuses.is_some_and(|word| texts.iter().any(|text| text.contains(word))) {
            let (service, reason) = ("here".to_owned(), "too long".to_owned());
            return Err(EmbedError::Refused { service, reason, may_pass: false });
        }
        self.seen.lock().unwrap().push(texts.iter().map(|text| (*text).to_owned()).collect());
        if let Some(meanwhile) = self.meanwhile {
            meanwhile(texts);
        }
        Ok(texts.iter().map(|text| vector(text)).collect())
    }
}

fn vector(text: &str) -> Vec<f32> {
    let components: Vec<f32> = match text.to_lowercase().contains("zebrafish") {
        true => STRIPES.iter().map(|byte| f32::from(byte.cast_signed())).collect(),
        false => {
            let key = text_key(text).to_le_bytes();
            key.iter().chain(&key).map(|byte| f32::from(*byte) + 1.0).collect()
        }
    };
    let length = components.iter().map(|x| x * x).sum::<f32>().sqrt();
    components.into_iter().map(|x| x / length).collect()
}

fn embed(machine: &Machine, fake: &Fake<'_>) -> Embedded {
    try_embed(machine, fake, None, &|_| true, &AtomicBool::new(false)).unwrap()
}

fn try_embed(
    machine: &Machine,
    fake: &Fake<'_>,
    most: Option<usize>,
    may_see: &dyn Fn(Option<&str>) -> bool,
    stop: &AtomicBool,
) -> thru_intake::Result<Embedded> {
    let how = Embedding { embedder: fake, most, may_see, stop };
    machine.intake().embed(&how, &mut |_| {})
}

fn coverage(machine: &Machine) -> Coverage {
    machine.intake().coverage(MODEL).unwrap()
}

fn vectors(machine: &Machine) -> Vectors {
    let folder = machine.layout().vectors().join(MODEL);
    Vectors::open(&folder, DIMENSIONS, MODEL).unwrap()
}

/// Returns true if any file of vectors holds these bytes.
fn is_on_disk(machine: &Machine, bytes: &[u8]) -> bool {
    let folder = machine.layout().vectors().join(MODEL);
    let files = fs::read_dir(folder).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    files.into_iter().any(|file| file.windows(bytes.len()).any(|window| window == bytes))
}

fn machine() -> Machine {
    let mut other = Author::of(TWO);
    other.asks("About zebrafish").says("Zebrafish it is.");
    let machine =
        Machine::with([(&file(ONE), &conversation(ONE).text()), (&file(TWO), &other.text())]);
    machine.import();
    machine
}

/// A machine with more texts than are embedded together.
fn talkative() -> Machine {
    let mut author = Author::of(ONE);
    for number in 0..90 {
        author.asks(&format!("What of number {number}?")).says(&format!("It is number {number}."));
    }
    let machine =
        Machine::with([(&file(ONE), &author.text()), (&file(TWO), &conversation(TWO).text())]);
    machine.import();
    machine
}

#[test]
fn every_text_is_embedded_once_memories_first_and_the_newest_first() {
    let machine = talkative();
    let fake = Fake::default();
    let done = embed(&machine, &fake);
    let all = coverage(&machine);
    assert!(all.texts >= 180, "{all:?}");
    assert_eq!((all.embedded, done.texts, done.waiting), (all.texts, all.texts, 0));
    assert_eq!((vectors(&machine).len() as u64, done.left_out), (done.vectors, 0));
    let seen = fake.seen.lock().unwrap();
    let batch = |text: &str| seen.iter().position(|batch| batch.iter().any(|one| one == text));
    assert!(seen[0].iter().all(|text| !text.starts_with("It is")), "memories come first");
    assert_eq!((batch("It is number 89."), batch("What of number 89?")), (Some(1), Some(1)));
    assert_eq!(batch("What of number 0?"), Some(seen.len() - 1));
    let again = Fake::default();
    assert_eq!(embed(&machine, &again), Embedded::default());
    assert_eq!(again.calls(), 0);
}

#[test]
fn tools_get_no_vectors() {
    let machine = machine();
    let fake = Fake::default();
    embed(&machine, &fake);
    let mut author = conversation(ONE);
    author.runs("toolu_99", "make orchard").gets("toolu_99", "the orchard is made");
    machine.write(&file(ONE), author.text());
    machine.import();
    let again = Fake::default();
    embed(&machine, &again);
    assert!(!again.seen().iter().any(|text| text == "the orchard is made"), "{:?}", again.seen());
}

#[test]
fn a_rebuild_needs_no_new_vector_and_takes_none_out() {
    let machine = machine();
    embed(&machine, &Fake::default());
    let before = (coverage(&machine), vectors(&machine).len());
    machine.rebuild();
    assert_eq!((coverage(&machine), vectors(&machine).len()), before);
    let fake = Fake::default();
    embed(&machine, &fake);
    assert_eq!(fake.calls(), 0);
}

#[test]
fn no_byte_of_a_forgotten_text_s_vectors_is_left() {
    let machine = machine();
    embed(&machine, &Fake::default());
    let key = text_key("Zebrafish it is.").to_le_bytes();
    assert!(is_on_disk(&machine, &STRIPES) && is_on_disk(&machine, &key));
    machine.forget(TWO);
    assert!(!is_on_disk(&machine, &STRIPES) && !is_on_disk(&machine, &key));
    let left = coverage(&machine);
    assert!(left.texts > 0 && left.embedded == left.texts, "others keep theirs: {left:?}");
}

#[test]
fn what_others_said_as_well_keeps_its_vectors() {
    let mut other = Author::of(TWO);
    other.asks("About zebrafish");
    let mut both = conversation(ONE);
    both.asks("About zebrafish");
    let machine = Machine::with([(&file(ONE), &both.text()), (&file(TWO), &other.text())]);
    machine.import();
    embed(&machine, &Fake::default());
    machine.forget(TWO);
    assert!(vectors(&machine).contains(text_key("About zebrafish")));
}

#[test]
fn a_text_that_is_forgotten_while_it_is_embedded_gets_no_vectors() {
    let machine = machine();
    let forgotten = AtomicBool::new(false);
    let forget = |texts: &[&str]| {
        let is_of_it = texts.iter().any(|text| text.to_lowercase().contains("zebrafish"));
        if is_of_it && !forgotten.swap(true, Ordering::Relaxed) {
            machine.forget(TWO);
        }
    };
    embed(&machine, &Fake { meanwhile: Some(&forget), ..Fake::default() });
    assert!(forgotten.load(Ordering::Relaxed), "it was on its way");
    assert!(!is_on_disk(&machine, &STRIPES));
    assert!(!vectors(&machine).contains(text_key("Zebrafish it is.")));
    let all = coverage(&machine);
    assert_eq!(all.embedded, all.texts);
}

#[test]
fn a_store_that_is_made_again_meanwhile_gets_its_vectors_all_the_same() {
    let machine = machine();
    let rebuilt = AtomicBool::new(false);
    let rebuild = |_: &[&str]| {
        if !rebuilt.swap(true, Ordering::Relaxed) {
            machine.rebuild();
        }
    };
    embed(&machine, &Fake { meanwhile: Some(&rebuild), ..Fake::default() });
    embed(&machine, &Fake::default());
    let all = coverage(&machine);
    assert_eq!(all.embedded, all.texts);
}

#[test]
fn rules_of_redaction_hold_before_the_store_follows_and_take_old_vectors_out() {
    let mut author = Author::of(ONE);
    author.asks("Call it acme-12345678 for now").says("Done.");
    let machine = Machine::with([(&file(ONE), &author.text())]);
    machine.import();
    let old = text_key("Call it acme-12345678 for now");
    embed(&machine, &Fake::default());
    assert!(vectors(&machine).contains(old));
    fs::remove_dir_all(machine.layout().vectors()).unwrap();
    let (name, pattern) = ("acme".to_owned(), "acme-[0-9]{8}".to_owned());
    machine.intake().record(&[Operation::RuleAdded { name, pattern }]).unwrap();
    let fake = Fake::default();
    embed(&machine, &fake);
    assert!(!fake.seen().iter().any(|text| text.contains("acme-1")), "{:?}", fake.seen());
    let intake = machine.intake();
    let lock = intake.lock(&mut |_| false).unwrap();
    assert!(intake.apply_rules(&lock, &mut |_, _| {}).unwrap().rebuilt);
    assert!(!vectors(&machine).contains(old));
}

#[test]
fn who_is_stopped_keeps_whole_batches_and_goes_on_where_it_stopped() {
    let machine = talkative();
    let stop = AtomicBool::new(false);
    let end = |_: &[&str]| stop.store(true, Ordering::Relaxed);
    let fake = Fake { meanwhile: Some(&end), ..Fake::default() };
    let done = try_embed(&machine, &fake, None, &|_| true, &stop).unwrap();
    assert!(done.stopped && done.texts > 0);
    let first = coverage(&machine);
    assert_eq!(first.embedded, done.texts);
    let limited =
        try_embed(&machine, &Fake::default(), Some(70), &|_| true, &AtomicBool::new(false));
    assert_eq!(limited.unwrap().texts, 70);
    assert_eq!(coverage(&machine).embedded, first.embedded + 70);
    let rest = embed(&machine, &Fake::default());
    assert_eq!(rest.texts, first.texts - first.embedded - 70);
    assert_eq!(vectors(&machine).len() as u64, done.vectors + 70 + rest.vectors);
}

#[test]
fn one_text_that_is_refused_keeps_no_other_waiting() {
    let machine = machine();
    let fake = Fake { refuses: Some("ebrafish"), ..Fake::default() };
    let done = embed(&machine, &fake);
    let all = coverage(&machine);
    assert!(done.left_out > 0 && all.embedded > 0);
    assert_eq!(all.embedded + done.left_out, all.texts);
    let refuses_all = Fake { refuses: Some(""), ..Fake::default() };
    let outcome = try_embed(&machine, &refuses_all, None, &|_| true, &AtomicBool::new(false));
    assert!(matches!(outcome, Err(IntakeError::Embed(EmbedError::Refused { .. }))));
}

#[test]
fn what_must_not_be_seen_is_not_given() {
    let mut hidden = Author::of(TWO).in_directory("/home/ada/hidden");
    hidden.asks("About zebrafish").says("Zebrafish it is.");
    let machine =
        Machine::with([(&file(ONE), &conversation(ONE).text()), (&file(TWO), &hidden.text())]);
    machine.import();
    let fake = Fake::default();
    let may_see = |directory: Option<&str>| directory != Some("/home/ada/hidden");
    let done = try_embed(&machine, &fake, None, &may_see, &AtomicBool::new(false)).unwrap();
    assert!(done.texts > 0 && done.texts < coverage(&machine).texts);
    assert!(!fake.seen().iter().any(|text| text.to_lowercase().contains("zebrafish")));
}

#[test]
fn one_at_a_time_embeds() {
    let machine = machine();
    let other = |_: &[&str]| {
        let outcome =
            try_embed(&machine, &Fake::default(), None, &|_| true, &AtomicBool::new(false));
        assert!(matches!(outcome, Err(IntakeError::Embedding)));
    };
    embed(&machine, &Fake { meanwhile: Some(&other), ..Fake::default() });
}

#[test]
fn embedding_keeps_no_other_process_waiting() {
    let machine = machine();
    // While a batch is under way everything can be written.
    let import = |_: &[&str]| {
        machine.write(&file(ONE), conversation(ONE).asks("And now?").text());
        machine.import();
    };
    embed(&machine, &Fake { meanwhile: Some(&import), ..Fake::default() });
    machine.assert_sound();
}

#[test]
fn damaged_vectors_are_made_again() {
    let machine = machine();
    embed(&machine, &Fake::default());
    let before = coverage(&machine);
    let folder = machine.layout().vectors().join(MODEL);
    let segment = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|extension| extension == "vectors"))
        .unwrap();
    let mut bytes = fs::read(&segment).unwrap();
    let place = bytes.len() - 40;
    bytes[place] ^= 1;
    fs::write(&segment, bytes).unwrap();
    assert_eq!(machine.intake().mend_vectors(MODEL).unwrap(), 1);
    assert!(coverage(&machine).embedded < before.embedded);
    embed(&machine, &Fake::default());
    assert_eq!(coverage(&machine).embedded, before.embedded);
    assert_eq!(machine.intake().mend_vectors(MODEL).unwrap(), 0);
}

#[test]
fn vectors_of_another_model_are_swept_as_well_and_never_mixed() {
    let machine = machine();
    embed(&machine, &Fake::default());
    let other = machine.layout().vectors().join("another");
    let key = text_key("Zebrafish it is.");
    let mut writer = VectorWriter::open(&other, 8, "another").unwrap();
    writer.add(vec![(key, vec![vec![0.5; 8]]), (7, vec![vec![0.5; 8]])]).unwrap();
    drop(writer);
    assert_eq!(machine.intake().sweep_vectors().unwrap(), 1);
    let open = || Vectors::open(&other, 8, "another").unwrap();
    assert!(open().contains(key) && !open().contains(7));
    machine.forget(TWO);
    assert!(!open().contains(key));
    let folders = ModelFolder::all(&machine.layout().vectors()).unwrap();
    let names: Vec<&str> = folders.iter().map(|folder| folder.model.as_str()).collect();
    assert_eq!(names, [MODEL, "another"]);
    assert_eq!(folders[0].dimensions, Some(DIMENSIONS));
}

#[test]
fn unreadable_vectors_are_removed_when_a_session_is_forgotten() {
    let machine = machine();
    embed(&machine, &Fake::default());
    let folder = machine.layout().vectors().join(MODEL);
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "vectors") {
            let mut bytes = fs::read(&path).unwrap();
            bytes[..8].fill(0);
            fs::write(&path, bytes).unwrap();
        }
    }
    assert!(is_on_disk(&machine, &STRIPES));
    machine.forget(TWO);
    assert!(!is_on_disk(&machine, &STRIPES));
    embed(&machine, &Fake::default());
    let all = coverage(&machine);
    assert_eq!(all.embedded, all.texts);
}

#[test]
fn vectors_are_not_said_to_be_swept_where_the_index_lacks_texts() {
    let mut author = Author::of(ONE);
    for number in 0..1_100 {
        author.asks(&format!("What of {number}?")).says(&format!("It is {number}."));
    }
    let machine = Machine::with([(&file(ONE), &author.text())]);
    machine.import();
    let most = Some(64);
    try_embed(&machine, &Fake::default(), most, &|_| true, &AtomicBool::new(false)).unwrap();
    machine.intake().sweep_vectors().unwrap();
    fs::remove_dir_all(machine.layout().index()).unwrap();
    let outcome = machine.intake().sweep_vectors();
    assert!(matches!(outcome, Err(IntakeError::NotSwept)), "{outcome:?}");
    machine.rebuild();
    machine.intake().sweep_vectors().unwrap();
}
