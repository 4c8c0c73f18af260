import type { Models } from "../../core/ports/models.ts";
import type { Source } from "../../core/sources/records.ts";
import type { WebSearchOptions } from "../../websearch/options.ts";
import { WebSearch } from "../../websearch/web-search.ts";
import { FixedTools, type FixedTool } from "../fixed-tools.ts";
import { ConfinedFiles } from "./confined-files.ts";
import { fileWriter } from "./file-writer.ts";
import { generateImageTool } from "./generate-image.ts";
import { internetSearch } from "./internet-search.ts";
import type { DefaultToolName } from "../../core/names/own-names.ts";
import type { DefaultToolsOptions } from "./options.ts";
import { pythonInterpreter, type InterpreterParts } from "./python-interpreter.ts";

export interface DefaultsParts {
  readonly source: Source;
  readonly options: DefaultToolsOptions;
  readonly webSearch: WebSearchOptions;
  readonly models: Models;
  readonly interpreter: InterpreterParts;
  /** The hub's environment variables, including proxy settings. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** Shared parts of the tools. */
interface DefaultToolParts extends DefaultsParts {
  readonly files: ConfinedFiles;
  readonly search: WebSearch;
}

/** Creates each tool by its name. */
const TOOLS: Readonly<Record<DefaultToolName, (shared: DefaultToolParts) => FixedTool>> = {
  file_writer: ({ source, files }) => fileWriter(source, files),
  generate_image_from_prompt: ({ source, files, models, options }) =>
    generateImageTool(source, { models, files, root: options.fileRoots[0] ?? "", timeoutMs: options.imageTimeoutMs }),
  internet_search: ({ source, search }) => internetSearch(source, search),
  python_interpreter: ({ source, interpreter }) => pythonInterpreter(source, interpreter),
};

/** Provides the enabled tools that come with the package. */
export class DefaultsProvider extends FixedTools {
  constructor(parts: DefaultsParts) {
    const { source, options, webSearch, environment } = parts;
    const search = new WebSearch(webSearch, environment);
    const shared: DefaultToolParts = {
      ...parts,
      search,
      files: new ConfinedFiles({ roots: options.fileRoots, maxBytes: options.maxFileBytes }),
    };
    const tools = options.enable.map((name) => TOOLS[name](shared));
    super(source, tools, { whose: "The default tools have", onClose: () => search.close() });
  }
}
