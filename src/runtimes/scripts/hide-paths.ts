import { homedir } from "node:os";

/**
 * Takes the places of this machine out of what a script printed: its own folder becomes relative, the home folder `~`, and the files
 * that tracebacks of Python and Node name are cut to their last step. Other paths stay: they may be what the message is about.
 */
export function hidePaths(text: string, folders: readonly string[]): string {
  let result = text;
  for (const folder of folders.toSorted((a, b) => b.length - a.length)) {
    if (folder.length <= 1) continue;
    result = result.replaceAll(`file://${folder}/`, "").replaceAll(`${folder}/`, "").replaceAll(folder, ".");
  }
  result = result.replace(/(File ")[^"\n]*[/\\]([^"/\\\n]+")/g, "$1$2").replace(/(\bat [^\n]{0,200}?\(?)(?:file:\/\/)?(?:[A-Za-z]:)?[/\\][^\s():]*[/\\]([^\s()]+:\d+:\d+)/g, "$1$2");
  const home = homedir();
  return home.length > 1 ? result.replaceAll(home, "~") : result;
}
