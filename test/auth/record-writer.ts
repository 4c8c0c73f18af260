// Writes records until it is killed, and prints the number of completely written ones.
import { JournalRecords } from "../../packages/toolyard/src/auth/builtin/disk/journal-records.ts";
import { RecordStore } from "../../packages/toolyard/src/auth/builtin/record-store.ts";

const [folder = "", round = ""] = process.argv.slice(2);
const store = new RecordStore(new JournalRecords(folder, Date.now));
for (let at = 1; at < 1000; at += 1) {
  await store.write(`${round}-${at}`, { filler: "x".repeat(4000) });
  process.stdout.write(`${at}\n`);
}
