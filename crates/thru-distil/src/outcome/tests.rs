//! Outputs of tools, each with what it names.

use proptest::prelude::*;

use super::*;

/// Renders failures as `test name (file)` and `error key (file)`.
fn shown(output: &str) -> Vec<String> {
    let failures = failures(output).into_iter();
    failures
        .map(|failure| {
            let kind = if failure.is_test { "test" } else { "error" };
            let file = failure.file.map_or(String::new(), |file| format!(" ({file})"));
            format!("{kind} {}{file}", failure.key)
        })
        .collect()
}

#[test]
fn tools_name_what_failed() {
    for (output, expected) in [
        // Rust.
        (
            "error[E0382]: borrow of moved value: `kiln`\n  --> src/kiln.rs:12:5\nerror: could not compile `kiln`",
            &["error E0382: borrow of moved value: `kiln` (src/kiln.rs)"][..],
        ),
        (
            "error: unused import: `Cone`\n --> src/a.rs:1:5\n  |\nerror: aborting due to 1 previous error",
            &["error unused import: `Cone` (src/a.rs)"],
        ),
        (
            "test fire::tests::it_melts ... FAILED\ntest fire::tests::it_cools ... ok\nthread 'fire::tests::it_melts' panicked at src/fire.rs:9:5:\nboom\nerror: test failed, to rerun pass `--lib`",
            &["test fire::tests::it_melts (src/fire.rs)"],
        ),
        (
            "        FAIL [   0.012s] kiln fire::it_melts\nerror: test run failed",
            &["test fire::it_melts"],
        ),
        // TypeScript.
        (
            "src/kiln.ts(3,1): error TS2322: Type 'x' is not assignable to type 'y'.\n@kiln/web:typecheck: src/b.ts(9,2): error TS2304: Cannot find name 'z'.",
            &[
                "error TS2304: Cannot find name 'z'. (src/b.ts)",
                "error TS2322: Type 'x' is not assignable to type 'y'. (src/kiln.ts)",
            ],
        ),
        (
            "src/a.tsx:4:7 - error TS7006: Parameter 'e'",
            &["error TS7006: Parameter 'e' (src/a.tsx)"],
        ),
        // Python.
        (
            "FAILED tests/test_kiln.py::test_melts - AssertionError: assert 1 == 2\n1 failed, 2 passed in 0.1s",
            &["test tests/test_kiln.py::test_melts (tests/test_kiln.py)"],
        ),
        (
            "FAIL: test_melts (tests.test_kiln.KilnTest.test_melts)\n----\nTraceback (most recent call last):\n  File \"tests/test_kiln.py\", line 4, in test_melts\nAssertionError: 1 != 2",
            &["test tests.test_kiln.KilnTest.test_melts"],
        ),
        (
            "Traceback (most recent call last):\n  File \"/w/kiln.py\", line 3, in <module>\n  File \"/usr/lib/python3/json/x.py\", line 3, in y\nModuleNotFoundError: No module named 'cone'",
            &["error ModuleNotFoundError: No module named 'cone' (/w/kiln.py)"],
        ),
        (
            "kiln.py:3: error: Name \"x\" is not defined  [name-defined]",
            &["error name-defined: Name \"x\" is not defined (kiln.py)"],
        ),
        // JavaScript.
        (
            "FAIL src/kiln.test.ts\n  ● Kiln › melts (5 ms)\n\n    expect(received)\n  ● Console",
            &["test Kiln › melts (src/kiln.test.ts)"],
        ),
        (
            "FAIL src/b.test.ts\n  ● Test suite failed to run",
            &["test src/b.test.ts (src/b.test.ts)"],
        ),
        (" FAIL  src/kiln.test.ts > Kiln > melts", &["test Kiln > melts (src/kiln.test.ts)"]),
        (
            "src/kiln.test.ts:\n(pass) Kiln > cools\n(fail) Kiln > melts [1.20ms]",
            &["test Kiln > melts"],
        ),
        ("not ok 3 - melts\n  ok 1 - cools", &["test melts"]),
        (
            "  1) [chromium] › tests/a.spec.ts:3:1 › it melts ───",
            &["test it melts (tests/a.spec.ts)"],
        ),
        // Go.
        ("--- FAIL: TestMelts (0.00s)\nFAIL", &["test TestMelts"]),
        ("./kiln.go:3:2: undefined: cone", &["error undefined: cone (kiln.go)"]),
        // Linters.
        (
            "/w/src/kiln.ts\n  3:1  error  'x' is never used  no-unused-vars\n  4:1  warning  y  z",
            &["error no-unused-vars: 'x' is never used (/w/src/kiln.ts)"],
        ),
        (
            "src/a.ts:3:1 lint/style/useConst  FIXABLE  ━━━━",
            &["error lint/style/useConst (src/a.ts)"],
        ),
        (
            "kiln.py:3:1: F401 [*] `os` imported but unused",
            &["error F401: `os` imported but unused (kiln.py)"],
        ),
        // C.
        (
            "kiln.c:3:1: error: unknown type name 'cone'",
            &["error unknown type name 'cone' (kiln.c)"],
        ),
        // Gradle.
        (
            "> Task :app:test FAILED\n\nKilnTest > melts() FAILED\n    java.lang.AssertionError at KilnTest.java:12\n\n2 tests completed, 1 failed",
            &["test KilnTest > melts()"],
        ),
        (
            "e: file:///p/src/Main.kt:3:5 Unresolved reference: cone\n\n* What went wrong:\nExecution failed for task ':compileKotlin'.\n> Compilation error",
            &["error Unresolved reference: cone (/p/src/Main.kt)"],
        ),
        (
            "FAILURE: Build failed with an exception.\n\n* What went wrong:\nCould not resolve all files for configuration ':kiln'.\n> Could not find kiln-cone.\n\n* Try:",
            &[
                "error Could not resolve all files for configuration ':kiln'. Could not find kiln-cone.",
            ],
        ),
        // Maven.
        (
            "[ERROR] /p/src/main/java/Kiln.java:[3,8] cannot find symbol\n[ERROR] Failed to execute goal org.apache:x (default): Compilation failure -> [Help 1]",
            &["error cannot find symbol (/p/src/main/java/Kiln.java)"],
        ),
        (
            "[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! -- in kiln.KilnTest\n[ERROR] kiln.KilnTest.melts -- Time elapsed: 0.01 s <<< FAILURE!\n[ERROR] cools(kiln.KilnTest)  Time elapsed: 0.02 s  <<< ERROR!",
            &["test kiln.KilnTest.cools", "test kiln.KilnTest.melts"],
        ),
        (
            "[ERROR] Failed to execute goal on project kiln: Could not resolve dependencies for project a:b:jar -> [Help 1]",
            &["error Could not resolve dependencies for project a:b:jar"],
        ),
        // pip and uv.
        (
            "ERROR: Could not find a version that satisfies the requirement cone==9 (from versions: 1.0)\nERROR: No matching distribution found for cone==9",
            &["error No matching distribution found for cone==9"],
        ),
        (
            "  × No solution found when resolving dependencies:\n  ╰─▶ Because cone==9 depends on kiln",
            &["error No solution found when resolving dependencies"],
        ),
        // Docker.
        (
            " > [2/3] RUN npm ci:\n1.2 npm error\n------\nDockerfile:12\n--------------------\nERROR: failed to solve: process \"/bin/sh -c npm ci\" did not complete successfully: exit code: 1",
            &[
                "error process \"/bin/sh -c npm ci\" did not complete successfully: exit code: 1 (Dockerfile)",
            ],
        ),
        (
            "The command '/bin/sh -c npm ci' returned a non-zero code: 1",
            &["error The command '/bin/sh -c npm ci' returned a non-zero code: 1"],
        ),
        // Nothing of a check.
        ("error: something went wrong", &[]),
        ("grep: FAILED", &[]),
    ] {
        assert_eq!(shown(output), expected, "{output}");
    }
}

#[test]
fn what_differs_from_run_to_run_is_left_out() {
    assert_eq!(
        failures("error[E0080]: it took 12 ms at 0xdeadbeef, line 7\n --> src/a.rs:1:1"),
        failures("error[E0080]: it took 15 ms at 0xcafebabe, line 9\n --> src/a.rs:8:1"),
    );
}

proptest! {
    #[test]
    fn any_output_is_read(output in "(error|FAIL|test|Traceback|  File|●|[:\\[\\]() \n\u{1b}a-zE0-9./])*") {
        prop_assert!(failures(&output).len() <= MOST);
        says_passed(&output);
    }
}
