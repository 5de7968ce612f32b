/** `mica-mcp/skills`: serving skills, and reading those of a server (SEP-2640). */
export { type LoadedSkill, type SkillFile, type SkillReader, skillsOf } from "../extensions/skills/client.js";
export type { ParseYaml } from "../extensions/skills/frontmatter.js";
export {
  readSkill,
  type ServedFile,
  type ServedSkill,
  type SkillOptions,
  skill,
} from "../extensions/skills/skill.js";
export { type SkillsOptions, skills } from "../extensions/skills/skills.js";
export type * from "../protocol/skills.js";
export { SKILLS_EXTENSION } from "../protocol/skills.js";
