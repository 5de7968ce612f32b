import { describe, expect, it } from "vitest";
import { withNamespaceImports } from "../../src/engine/zod-imports.js";

describe("imports of z", () => {
  it.each([
    ['import { z } from "zod";', 'import * as z from "zod";'],
    ["import{z}from'zod'", 'import * as z from "zod"'],
    ['import { z as schema } from "zod/v4";', 'import * as schema from "zod/v4";'],
    [
      '#!/usr/bin/env node\n/** About it. */\n// More.\n"use strict";\nimport fs from "node:fs";\nimport "./side.js";\nimport {\n  ZodError,\n  z,\n} from "zod";\nrun();',
      '#!/usr/bin/env node\n/** About it. */\n// More.\n"use strict";\nimport fs from "node:fs";\nimport "./side.js";\nimport * as z from "zod";import { ZodError } from "zod";\nrun();',
    ],
    [
      'import { z } from "zod";\nimport { z as mini } from "zod/mini";',
      'import * as z from "zod";\nimport * as mini from "zod/mini";',
    ],
  ])("%s", (given, expected) => {
    expect(withNamespaceImports(given)).toBe(expected);
  });
});

describe("what stays as it is", () => {
  it.each([
    'import * as z from "zod";',
    'import zod from "zod";',
    'import zod, { z } from "zod";',
    'import { ZodError } from "zod";',
    'import { z } from "./zod.js";',
    'import { z } from "zod-like";',
    'import type { z } from "zod";',
    'export const example = `\nimport { z } from "zod";\n`;',
    'const a = 1;\nimport { z } from "zod";',
    "",
  ])("%s", (text) => {
    expect(withNamespaceImports(text)).toBe(text);
  });
});
