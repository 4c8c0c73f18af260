// One look into the system's keyring, in a process of its own: `keyring-main MODULE read|write NAME`. What is written
// comes on standard input, and what is read goes to standard output.

interface KeyringEntry {
  getPassword(): string | null;
  setPassword(secret: string): void;
}

interface KeyringModule {
  readonly Entry: new (service: string, name: string) => KeyringEntry;
}

const SERVICE = "toolyard";

async function main([module = "", action, name = ""]: readonly string[]): Promise<void> {
  const { Entry } = (await import(module)) as KeyringModule;
  const entry = new Entry(SERVICE, name);
  if (action === "read") return void process.stdout.write(entry.getPassword() ?? "");
  let secret = "";
  for await (const chunk of process.stdin) secret += String(chunk);
  entry.setPassword(secret);
}

// Whoever asked hears that it did not work, and nothing of why: a message could hold what was to be kept.
main(process.argv.slice(2)).catch(() => process.exit(1));
