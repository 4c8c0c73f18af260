import { nearest } from "./nearest.ts";

/** GNN's sections, in their usual order. */
export const SECTION_NAMES = [
  "GNNSection",
  "GNNVersionAndFlags",
  "ModelName",
  "ModelAnnotation",
  "ImageFromPaper",
  "StateSpaceBlock",
  "ParameterBlock",
  "ObservationBlock",
  "TransitionBlock",
  "Connections",
  "InitialParameterization",
  "Equations",
  "Time",
  "ActInfOntologyAnnotation",
  "ModelParameters",
  "Footer",
  "Signature",
] as const;

export type SectionName = (typeof SECTION_NAMES)[number];

/** Sections with statements as lines. All other sections, including unknown ones, are text. */
const STATEMENT_SECTIONS = new Set<string>([
  "StateSpaceBlock",
  "Connections",
  "InitialParameterization",
  "Equations",
  "Time",
  "ActInfOntologyAnnotation",
  "ModelParameters",
]);

const KNOWN = new Set<string>(SECTION_NAMES);
const BY_PLAIN_NAME = new Map(SECTION_NAMES.map((name) => [name.toLowerCase(), name]));

export function isSectionName(name: string): name is SectionName {
  return KNOWN.has(name);
}

export function hasStatements(name: string): boolean {
  return STATEMENT_SECTIONS.has(name);
}

/** Returns the section of a heading in another spelling: `Model name`, `state_space_block`. */
export function sectionMeantBy(words: string): SectionName | undefined {
  return BY_PLAIN_NAME.get(words.replaceAll(/[\s_-]/g, "").toLowerCase());
}

export function nearestSection(name: string): string | undefined {
  return nearest(name, SECTION_NAMES);
}
