// A vitest reporter that leaves the counts, and every skip with its reason, in the file that TOOLYARD_TEST_SUMMARY names.
import { writeFileSync } from "node:fs";

// Tests of what one platform has and another has not are left out by `runIf` and `skipIf`, which take no note.
const WITHOUT_NOTE = process.platform === "linux" ? "no reason given" : "not on this platform";

export default class SummaryReporter {
  onTestRunEnd(modules, errors) {
    const summary = { passed: 0, failed: errors.length, skipped: [] };
    for (const module of modules) {
      if (module.errors().length > 0) summary.failed += module.errors().length;
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === "passed") summary.passed += 1;
        else if (result.state === "failed") summary.failed += 1;
        else summary.skipped.push({ test: test.fullName, reason: result.note ?? WITHOUT_NOTE });
      }
    }
    const file = process.env.TOOLYARD_TEST_SUMMARY;
    if (file) writeFileSync(file, JSON.stringify(summary));
  }
}
