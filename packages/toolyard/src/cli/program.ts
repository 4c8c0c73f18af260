import { Command, Option } from "commander";
import { safeToShow } from "../core/text/hidden-text.ts";
import type { CommandRow, CommandAction, SharedOptions } from "./rows/command-row.ts";
import { commandRows, VERBOSE } from "./rows/command-rows.ts";
import { reportError, UsageError } from "./failure.ts";
import type { Io } from "./output/io.ts";

/** Returns whether JSON was requested, even on an invalid command line. */
export function wantsJson(words: readonly string[]): boolean {
  const end = words.indexOf("--");
  return words.slice(0, end < 0 ? words.length : end).includes("--json");
}

export interface ProgramOptions {
  /** Command line to parse; commands that it does not name may be omitted. @default every command is created */
  readonly words?: readonly string[];
  /** True if the caller prints messages about an invalid command line instead of commander. */
  readonly json: boolean;
  /** Called with the exit code of the command. */
  readonly finish: (code: number) => void;
}

/** Creates the parser of the command line. */
export async function createProgram(io: Io, version: string, options: ProgramOptions): Promise<Command> {
  const program = new Command("toolyard")
    .description("All your tools behind one MCP endpoint.")
    .usage("<command> [options]")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "show this help")
    .helpCommand("help [command]", "show the help of a command")
    .showHelpAfterError("(toolyard --help lists the commands)")
    .showSuggestionAfterError(true)
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void (options.json || io.stderr.write(safeToShow(text))),
    })
    .addHelpText(
      "after",
      exampleText(["toolyard init", "toolyard check", "toolyard serve", "toolyard list", "toolyard help call"]),
    )
    .exitOverride();
  // The flag is accepted in any position: `toolyard -v list` equals `toolyard list -v`.
  program.addOption(new Option("-v, --verbose", VERBOSE.description));
  for (const row of await commandRows(options.words)) addCommand(program, row, { io, finish: options.finish });
  for (const [name, advice] of Object.entries(ELSEWHERE)) addSignpost(program, name, { advice, io, options });
  return program;
}

/** Advice for commands of the specified core server that have a different name in this program. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  execute:
    "`toolyard core execute <tool_name> --params <json>` is the core server's; `toolyard call <tool>` calls any.",
  server: "`toolyard core server` starts the core server; `toolyard serve` serves all tools behind one MCP endpoint.",
};

interface Signpost {
  readonly advice: string;
  readonly io: Io;
  readonly options: ProgramOptions;
}

function addSignpost(program: Command, name: string, { advice, io, options: { json, finish } }: Signpost): void {
  program
    .command(`${name} [words...]`, { hidden: true })
    .allowUnknownOption()
    .helpOption(false)
    .action(async () => {
      finish(await reportError(new UsageError(`There is no command \`${name}\` here. ${advice}`), json, io));
    });
}

function exampleText(examples: readonly string[]): string {
  return `\nExamples:\n${examples.map((example) => `  ${example}`).join("\n")}`;
}

/** Context of every command. */
interface CommandContext extends Pick<ProgramOptions, "finish"> {
  readonly io: Io;
}

function addCommand(parent: Command, row: CommandRow, around: CommandContext): void {
  const { io, finish } = around;
  const command = parent
    .command(row.usage)
    .summary(row.summary)
    .description(`${row.summary[0]!.toUpperCase()}${row.summary.slice(1)}.`);
  for (const option of row.options) command.addOption(option);
  command.helpOption("-h, --help", "show this help");
  const path = parent.parent ? `${parent.name()} ${command.name()}` : command.name();
  command.showHelpAfterError(`(toolyard ${path} --help shows how it is used)`);
  command.addHelpText("after", exampleText(row.examples));
  for (const inner of row.commands ?? []) addCommand(command, inner, around);
  const { load, excessAdvice } = row;
  if (!load) return;
  const { length: known } = command.registeredArguments;
  if (excessAdvice) command.allowExcessArguments(true);
  command.action(async (...received: unknown[]) => {
    const options = command.optsWithGlobals<SharedOptions>();
    const args = received.slice(0, -2).flat() as string[];
    try {
      const excess = command.args.slice(known)[0];
      if (excessAdvice && excess !== undefined) throw new UsageError(excessAdvice(excess));
      const { run } = await load();
      finish(
        await (run as CommandAction)(
          args.filter((arg) => arg !== undefined),
          options,
          io,
        ),
      );
    } catch (error) {
      finish(await reportError(error, options.json === true, io));
    }
  });
}
