//# about: weld explore reads the maps of GNU ld, gold, ld.lld and weld: whose the bytes of a stripped file are, members of archives too
//# only: weld -- others have no such command
//# obj: small.o = explore-map.c -O1 -ffunction-sections
//# obj: large.o = explore-map.c -O1 -ffunction-sections -DLARGE
//# obj: member-with-a-name-longer-than-the-column.o = member.c -O1 -ffunction-sections
//# sh: ar rcs libm.a member-with-a-name-longer-than-the-column.o
//# sh: try() { for size in small large; do "$@" $size.o libm.a -e main -s -o $size -Map=$size.map; cp $size.o main.o; done; $LD explore --old-map=small.map --map=large.map small large --format=json > growth.json && python3 check.py growth.json; }; declare -f try > try.sh
//# sh: . ./try.sh; try ld.bfd; grep -q '^Linker script and memory map' large.map
//# sh: . ./try.sh; try ld.gold; grep -q '^Memory map' large.map
//# sh: . ./try.sh; try ld.lld-22
//# sh: . ./try.sh; try $LD --map-format=lld
//# sh: . ./try.sh; try $LD --map-format=gnu; grep -q '^Linker script and memory map' large.map
//# sh: ! $LD explore --map=explore-map.c large 2> said && grep 'large: the map says nothing of it' said
int member(int);
int table[50] = {1};
int twice(int n) { return n * 2 + member(n); }
#ifdef LARGE
int only_here_and_with_a_long_name(int n) { return n * n * 5 + 1; }
int main(void) { return twice(table[1]) + only_here_and_with_a_long_name(3); }
#else
int main(void) { return twice(table[1]); }
#endif
//--- member.c
int large[2000] = {2};
int member(int n) { return n * n + large[n]; }
//--- check.py
import json, sys

growth = json.load(open(sys.argv[1]))
objects = {row["name"]: (row["old"], row["new"]) for row in growth["objects"]}
# They are taken for one object that was renamed.
assert 30 < objects["large.o"][0] < objects["large.o"][1], objects
# What has not changed is not listed; that it is known whose it is, is seen by what is left.
assert not any("member" in name for name in objects), objects
unknown = objects.get("(not known)", (0, 0))
assert max(unknown) < 4000, objects
