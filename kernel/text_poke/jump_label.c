// SPDX-License-Identifier: GPL-2.0
/*
 * Jump labels change through the text poke core.
 */
#include <linux/errno.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/text_poke.h>

/*
 * Until SYSTEM_SCHEDULING there is one CPU, and its text is not protected from
 * writing.  Interrupts may be off there, and on powerpc even the MMU.
 */
static int poke_entry(struct jump_entry *entry, enum jump_label_type type)
{
	u8 insns[2][JUMP_LABEL_INSN_MAX], *old = insns[!type], *new = insns[type];
	void *addr = (void *)jump_entry_code(entry);
	size_t len = arch_jump_label_insns(entry, insns[JUMP_LABEL_NOP],
					   insns[JUMP_LABEL_JMP]);
	int ret;

	if (system_state == SYSTEM_BOOTING)
		ret = text_poke_early(addr, old, new, len);
	else
		ret = text_poke_batch_add(addr, old, new, len, NULL);
	/* An earlier change has failed, and the text already is what it shall be. */
	if (ret == -EILSEQ && !text_poke_verify(addr, new, len))
		return 0;
	return ret;
}

int arch_jump_label_transform_queue(struct jump_entry *entry,
				    enum jump_label_type type)
{
	int ret = poke_entry(entry, type);

	if (ret)
		text_poke_failed("jump label", (void *)jump_entry_code(entry),
				 ret);
	return ret;
}

int arch_jump_label_transform_apply(void)
{
	int ret;

	if (system_state == SYSTEM_BOOTING)
		return 0;

	ret = text_poke_batch_finish();
	if (ret)
		text_poke_failed("jump labels", NULL, ret);
	return ret;
}
