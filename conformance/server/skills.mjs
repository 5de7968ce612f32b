/** A skill, served as resources (SEP-2640). */
import { skill } from "mica-mcp/skills";
import { parse } from "yaml";

const MANIFEST = `---
name: pdf-processing
description: Extract, fill, and assemble PDF documents
metadata:
  version: "1.0"
---

# PDF processing

Choose a template from templates/, and see references/FORMS.md for how forms are filled in.
`;

export function pdfProcessing() {
  const files = {
    "SKILL.md": MANIFEST,
    "references/FORMS.md": "# Forms\n\nFields have names.\n",
    "templates/invoice.md": "# Invoice\n",
  };
  return skill(files, { parseYaml: parse });
}
