#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fake_cuobjdump.sh -sass FILE: prints as cuobjdump does, by the file's name.
[ "$1" = -sass ] || exit 3
case $2 in
*none) echo "cuobjdump info    : File '$2' does not contain device code" >&2; exit 255 ;;
*hang | *hang.cubin) exec sleep 60 ;;
*flood) while :; do echo "        /*0000*/    NOP ;"; done ;;
esac
cat <<'TEXT'

Fatbin elf code:
================
arch = sm_80

	code for sm_80
		Function : _Z4spinPj
	.headerflags	@"EF_CUDA_SM80"
        /*0020*/                   OF.ANOTHER R1 ;                                   /* 0x00000a00ff017b82 */
		Function : both
        /*0000*/                   EIGHTY ;                                          /* 0x00000a00ff017b82 */
		Function : newer
        /*0000*/                   EIGHTY ;                                          /* 0x00000a00ff017b82 */
	code for sm_86
		Function : newer
        /*0000*/                   EIGHTY_SIX ;                                      /* 0x00000a00ff017b82 */
	code for sm_90a
		Function : _Z4spinPj
        /*0000*/                   LDC R1, c[0x0][0x28] ;                            /* 0x00000a00ff017b82 */
                                                                                     /* 0x000fe20000000800 */
.L_x_1:
        /*0010*/              @!P0 EXIT ;                                            /* 0x000000000000894d */
        /*0008*/                   BACK ;                                            /* 0x000000000000894d */
        /*0020*/                   LDG.E R4, desc[UR4][R4.64] ;                      /* 0x000000000000894d */
        /*zz*/ no ;
        /*0030*/
        /*0040*/ ;
		Function : both
        /*0000*/                   NINETY ;                                          /* 0x00000a00ff017b82 */
		Function : copy_plain
        /*0100*/                   NANOSLEEP R5 ;                                    /* 0x00000a00ff017b82 */
		Function : twice
        /*0000*/                   ONE ;                                             /* 0x00000a00ff017b82 */
		Function : twice
        /*0000*/                   TWO ;                                             /* 0x00000a00ff017b82 */
		Function : empty
TEXT
# As templates have it.
printf '\t\tFunction : %03000d\n        /*0000*/                   LONG ;\n' 7
[ "${2##*/}" != half ] || { echo "cuobjdump fatal   : it broke" >&2; exit 1; }
