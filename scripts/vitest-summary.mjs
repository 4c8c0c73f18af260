// A vitest reporter that writes the counts, every failure with its message and every skip with its reason to the file
// in TOOLYARD_TEST_SUMMARY.
import { writeFileSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

// Tests for another platform are skipped by `runIf` and `skipIf`, which accept no note.
const WITHOUT_NOTE = process.platform === "linux" ? "no reason given" : "not on this platform";
const MESSAGE_LINES = 12;

export default class SummaryReporter {
  onTestRunEnd(modules, errors) {
    const summary = {
      passed: 0,
      failures: errors.map((error) => failure(undefined, "outside of a test", [error])),
      skipped: [],
    };
    for (const module of modules) {
      const file = module.relativeModuleId;
      if (module.errors().length > 0) summary.failures.push(failure(file, "the file itself", module.errors()));
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === "passed") summary.passed += 1;
        else if (result.state === "failed") summary.failures.push(failure(file, test.fullName, result.errors));
        else summary.skipped.push({ test: test.fullName, reason: result.note ?? WITHOUT_NOTE });
      }
    }
    const file = process.env.TOOLYARD_TEST_SUMMARY;
    if (file) writeFileSync(file, JSON.stringify({ ...summary, failed: summary.failures.length }));
  }
}

function failure(file, test, errors) {
  const message = errors.map((error) => error.stack || error.message).join("\n");
  return { file, test, message: stripVTControlCharacters(message).split("\n").slice(0, MESSAGE_LINES).join("\n") };
}
