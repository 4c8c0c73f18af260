// One access to the system's keyring, in a separate process: `keyring-main MODULE read|write NAME`. The value to write
// is read from standard input, and a read value is written to standard output.

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

// The message of an error is not written, because it could contain the secret. The parent process gets only the exit
// code.
main(process.argv.slice(2)).catch(() => process.exit(1));
