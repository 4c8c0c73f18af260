import type { CheckContext } from "./context.ts";
import { isTerm } from "./ontology.ts";

/** Reports terms that are missing from the ontology, and annotations of undeclared variables. */
export function checkOntology({ view, variables, declares, reporter, suggestions }: CheckContext): void {
  const settings = settingsOf(view.model.sections.map((section) => (section.kind === "text" ? section.text : "")));
  for (const { key } of view.parameters) settings.add(key.text);
  for (const { name, term } of view.mappings) {
    if (!isTerm(term.text)) {
      const near = suggestions.term(term.text);
      const message = `${term.text} is not a term of the Active Inference Ontology that GNN lists.`;
      reporter.report({ code: "W008", span: term.span, message, mend: near && `Write ${near}.` });
    }
    if (!declares || variables.find(name.text) || settings.has(name.text)) continue;
    reporter.report({ code: "W010", span: name.span, message: `${name.text} has an annotation but no declaration.` });
  }
}

/** Returns the keys in sections that GNN does not define, such as AgentHyperparameters. */
function settingsOf(texts: readonly string[]): Set<string> {
  return new Set(texts.flatMap((text) => Array.from(text.matchAll(/^[ \t]*(\w+)[ \t]*[:=]/gm), ([, key]) => key!)));
}
