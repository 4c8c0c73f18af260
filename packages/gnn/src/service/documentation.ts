/** Content of `gnn://documentation/{doc_name}`. */
export const DOCUMENTS: Readonly<Record<string, { readonly title: string; readonly content: string }>> = {
  file_structure: {
    title: "Structure of a GNN file",
    content: `# Structure of a GNN file

A GNN file is Markdown in UTF-8. A line \`## Name\` begins a section; lines that begin with \`#\` inside a section, and
the text after \`#\` in a line, are comments. These sections are known, and those marked * are required:

| section | content |
| --- | --- |
| GNNSection * | an identifier without spaces |
| GNNVersionAndFlags * | \`GNN v1\` or \`GNN v1.1\`, then flags |
| ModelName * | a title |
| ModelAnnotation | free text |
| StateSpaceBlock * | one variable per line: \`A[2,3,type=float]\` |
| Connections * | one edge per line: \`D>s\`, \`s-A\` |
| InitialParameterization | values: \`D={(0.5, 0.5)}\` |
| Equations | one equation per line |
| Time | \`Static\` or \`Dynamic\`, \`DiscreteTime=t\`, \`ModelTimeHorizon=20\` |
| ActInfOntologyAnnotation | the ontology term of a variable: \`s=HiddenState\` |
| ModelParameters | \`num_actions: 3\` |
| Footer, Signature | free text |

Several models in a file have a line \`---\` between them. A YAML block between two such lines may come
first.
`,
  },
  punctuation: {
    title: "Meaning of the symbols in GNN",
    content: `# Meaning of the symbols in GNN

| symbol | meaning | example |
| --- | --- | --- |
| \`[ ]\` | dimensions, then type and default | \`A[2,num_states,type=float,default=uniform]\` |
| \`>\` | a directed edge | \`D>s\` |
| \`-\` | an undirected edge | \`s-A\` |
| \`( , )\` | a group: an edge from every name in it to every name at the other end | \`(s,u)>B\` |
| \`:\` | the label of an edge | \`γ>A:precision\` |
| \`=\` | a value, a term, or the constraint of an edge | \`D={(0.5, 0.5)}\` |
| \`{ }\` | a whole value; rows in parentheses | \`A={(1,0),(0,1)}\` |
| \`_\` | an index | \`A_m0\`, \`s_t\` |
| \`_t+1\` | the same variable a step later | \`s_t>s_t+1\` |
| \`^\`, \`'\` | parts of a name | \`X^Y\`, \`s'\` |
| \`len( )\` | the number of entries of a variable | \`G[len(π)]\` |
| \`#\` | a comment up to the end of the line | \`s[2] # belief\` |
`,
  },
};
